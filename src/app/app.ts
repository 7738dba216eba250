import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import type { Report } from "../core/model/report.ts";
import { startConfigWatch } from "../daemon/config-watch.ts";
import { Daemon } from "../daemon/daemon.ts";
import { Reloader } from "../daemon/reloader.ts";
import { startReportLoop } from "../daemon/report-loop.ts";
import { logStart } from "../daemon/start-log.ts";
import { openHistoryStore } from "../daemon/state/history-store.ts";
import { type OpenedBudgets, openSharedBudgets } from "../daemon/state/open-shared-budgets.ts";
import { openStateStore, type StateStore } from "../daemon/state/store.ts";
import { HttpErrors } from "../io/http-server/http-errors.ts";
import type { ReloadResult } from "../io/http-server/routes/server-deps.ts";
import { startHttpServer } from "../io/http-server/server.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { DrawingRight } from "../io/store/shared-budgets.ts";
import type { World } from "../io/world.ts";
import { METRIC_FAMILIES } from "../metrics/families/all.ts";
import { createPrometheus } from "../metrics/registry.ts";
import type { Replica, ReplicaOptions } from "../replica/replica.ts";
import { createScrape } from "../replica/scrape.ts";
import { type Cleanup, createCleanup } from "./cleanup.ts";

/** A running daemon. Disposing it stops everything, in reverse order. */
export interface App extends AsyncDisposable {
  readonly url: string;
  /** Settles if another process has taken the state file over: this one must stop. */
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
    let replica: Replica | null = null;
    const redis = await openRedis(world, cleanup);
    const prometheus = createPrometheus({ families: METRIC_FAMILIES, build: world.build });
    const store: StateStore = cleanup.use(
      await openStateStore(world.stateFile, {
        world,
        // Not called before the daemon exists, which is made from what was read.
        snapshot: () => daemon.snapshot(),
        onLockLost: (error) => onLockLost(error),
      }),
    );
    const right = (): DrawingRight => replica?.right() ?? { kind: "none" };
    const shared = redis && (await openBudgets(config, { redis, right, world, cleanup }));
    const mayPoll = redis && ((): boolean => replica?.mayPoll() === true);
    const daemon: Daemon = cleanup.use(new Daemon(config, { world, store, shared, mayPoll }));
    const history = cleanup.use(await openHistoryStore(world));
    replica = redis && cleanup.use(await createReplica({ store: redis, daemon, history, world }));
    const reloader = new Reloader({
      world,
      listen: config.listen,
      apply: async (next) => {
        daemon.apply(next);
        replica?.reloaded();
      },
    });
    const httpErrors = new HttpErrors(world.logger);
    const server = cleanup.use(
      await startHttpServer(
        config.listen,
        {
          report: () => (replica ?? daemon).report(),
          past: history.past,
          endpoints: (chain) => daemon.endpoints(chain),
          plan: () => daemon.plan(),
          metrics: createScrape(daemon, { prometheus, reloader, httpErrors, replica }),
          healthy: () => daemon.healthy(),
          ready: () => daemon.ready(),
          reload: world.isLifecycleEnabled ? () => reloader.reload() : null,
          version: world.build.version,
        },
        { web: world.web ?? null, onError: (error, route) => httpErrors.add(error, route) },
      ),
    );
    await store.publishUrl(server.url);
    replica?.start(`${hostname()}:${new URL(server.url).port}`);
    cleanup.use(startReportLoop(daemon, history, world));
    cleanup.use(startConfigWatch(() => reloader.reload(), world));
    logStart(config, world, server.url);
    return {
      url: server.url,
      lockLost,
      report: () => daemon.report(),
      reload: () => reloader.reload(),
      async [Symbol.asyncDispose]() {
        reloader.stop();
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

/** One of several daemons. */
async function createReplica(options: ReplicaOptions): Promise<Replica> {
  const { Replica } = await import("../replica/replica.ts");
  return new Replica(options);
}

/** The connection to the store, whose client is loaded only where there is one. */
async function openRedis(world: World, cleanup: Cleanup): Promise<RedisStore | null> {
  if (world.store == null) {
    return null;
  }
  const { RedisStore } = await import("../io/store/redis-store.ts");
  return cleanup.use(await RedisStore.open(world.store, world));
}

interface BudgetsSource {
  readonly redis: RedisStore;
  readonly right: () => DrawingRight;
  readonly world: World;
  readonly cleanup: Cleanup;
}

async function openBudgets(
  { fleet, listen }: Config,
  { redis, right, world, cleanup }: BudgetsSource,
): Promise<OpenedBudgets> {
  return cleanup.use(
    await openSharedBudgets(fleet, {
      store: redis,
      name: `${hostname()}:${listen.port}`,
      isDaemon: true,
      right,
      formerStateFile: world.formerStateFile ?? null,
      world,
    }),
  );
}
