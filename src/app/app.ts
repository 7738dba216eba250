import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import type { Report } from "../core/model/report.ts";
import { Daemon } from "../daemon/daemon.ts";
import { Notifier } from "../daemon/notify.ts";
import { Reloader } from "../daemon/reloader.ts";
import { startReportLoop } from "../daemon/report-loop.ts";
import { logStart } from "../daemon/start-log.ts";
import { EventStore } from "../daemon/state/event-store.ts";
import { HistoryStore } from "../daemon/state/history-store.ts";
import { openStateStore, type StateStore } from "../daemon/state/store.ts";
import { HttpErrors } from "../io/http-server/http-errors.ts";
import type { ReloadResult } from "../io/http-server/routes/server-deps.ts";
import { startHttpServer } from "../io/http-server/server.ts";
import { spentInFile } from "../io/state/file.ts";
import type { World } from "../io/world.ts";
import { createPrometheus } from "../metrics/registry.ts";
import type { Replica } from "../replica/replica.ts";
import { createScrape } from "../replica/scrape.ts";
import { type Cleanup, createCleanup } from "./cleanup.ts";

/** A running daemon. Disposing it stops everything, in reverse order. */
export interface App extends AsyncDisposable {
  readonly url: string;
  /** Settles if another process took over the state file: this one must stop. */
  readonly lockLost: Promise<Error>;
  readonly report: () => Report;
  /** Reads the configuration again; an invalid file changes nothing. */
  readonly reload: () => Promise<ReloadResult>;
}

/**
 * Wires and starts everything.
 *
 * @throws {StateLockedError} If another process has the state file.
 * @throws {StatePathError} If the state file cannot be one.
 * @throws If it cannot listen. Nothing is left running then.
 */
export async function startApp(config: Config, world: World): Promise<App> {
  const cleanup = createCleanup();
  let onLockLost: (error: Error) => void = () => undefined;
  const lockLost = new Promise<Error>((resolve) => {
    onLockLost = resolve;
  });
  try {
    const prometheus = createPrometheus(world.build);
    const store: StateStore = cleanup.use(
      await openStateStore(world.stateFile, config.fleet, {
        world,
        state: () => daemon.save(),
        onLockLost,
      }),
    );
    const replica = await openReplica(config, world, cleanup);
    const replicated = replica && { shared: replica.shared, mayPoll: () => replica.mayPoll() };
    const daemon: Daemon = cleanup.use(new Daemon(config, { world, store, ...replicated }));
    const events = cleanup.use(await EventStore.open(world));
    if (replica === null) {
      events.started("synclag", store.restored.aliveMs);
      daemon.startPolling();
    }
    const history = cleanup.use(await HistoryStore.open(world));
    const report = (): Report => ({ ...daemon.report(), ...(replica && { replica: replica.state() }) });
    cleanup.use(replica ?? createCleanup());
    const reloader = new Reloader(world, config, (next) => {
      daemon.apply(next);
      replica?.reloaded();
      events.reloaded();
    });
    const notifier = cleanup.use(new Notifier(daemon, world));
    const httpErrors = new HttpErrors(world.logger);
    const server = cleanup.use(
      await startHttpServer(
        config.listen,
        {
          report,
          past: (chain, keys, span) => history.past(chain, keys, span),
          events: events.log,
          endpoints: (chain) => daemon.endpoints(chain),
          plan: () => daemon.plan(),
          settings: () => daemon.config,
          metrics: createScrape(daemon, { prometheus, reloader, httpErrors, events, notifier, replica }),
          healthy: () => daemon.healthy(),
          ready: () => daemon.ready(),
          reload: world.isLifecycleEnabled ? async () => reloader.reload() : null,
          version: world.build.version,
        },
        { web: world.web ?? null, onError: (error, route) => httpErrors.add(error, route) },
      ),
    );
    await store.publishUrl(server.url);
    replica?.start(`${hostname()}:${new URL(server.url).port}`, { daemon, events });
    cleanup.use(startReportLoop(daemon, history, events, notifier, world));
    cleanup.use(reloader).watch();
    logStart(config, world, server.url);
    return {
      ...{ url: server.url, lockLost, report: () => daemon.report() },
      reload: async () => reloader.reload(),
      async [Symbol.asyncDispose]() {
        reloader[Symbol.dispose]();
        events.stopped();
        daemon.drain();
        await cleanup[Symbol.asyncDispose]();
        world.logger.info("Stopped");
      },
    };
  } catch (error) {
    await cleanup[Symbol.asyncDispose]();
    throw error;
  }
}

/** One of several daemons, or null without a store, whose client is loaded only then. */
async function openReplica({ fleet }: Config, world: World, cleanup: Cleanup): Promise<Replica | null> {
  if (world.store == null) {
    return null;
  }
  const { RedisStore } = await import("../io/store/redis-store.ts");
  const { Replica } = await import("../replica/replica.ts");
  const store = cleanup.use(await RedisStore.open(world.store, world));
  const former = world.formerStateFile == null ? null : await spentInFile(world.formerStateFile);
  return new Replica(fleet, { store, former, world });
}
