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
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import { startHttpServer } from "../io/http-server/server.ts";
import { spentInFile } from "../io/state/file.ts";
import { openStore } from "../io/store/open-store.ts";
import type { World } from "../io/world.ts";
import { createPrometheus } from "../metrics/registry.ts";
import { Replica } from "../replica/replica.ts";
import { createScrape } from "../replica/scrape.ts";

export interface App {
  readonly url: string;
  readonly report: () => Report;
  /** Reads the configuration again. An invalid file changes nothing. */
  readonly reload: () => Promise<ProbeResult>;
}

/**
 * Wires and starts everything, and stops it in reverse order when `use` is done.
 *
 * @throws {StateLockedError} If another process holds the state file.
 * @throws {StatePathError} If the path of the state file cannot be used.
 * @throws {Error} If the server cannot listen. Everything that was started is stopped first.
 */
export async function runApp(config: Config, world: World, use: (app: App) => Promise<void>): Promise<void> {
  const prometheus = createPrometheus(world.build);
  await using store: StateStore = await openStateStore(world.stateFile, config.fleet, {
    world,
    state: () => daemon.save(),
    onLockLost: world.onLockLost ?? world.onBug,
  });
  await using shared = world.store == null ? null : await openStore(world.store, world);
  const former = world.formerStateFile == null ? null : await spentInFile(world.formerStateFile);
  const replica = shared && new Replica(config.fleet, { store: shared, former, world });
  const replicated = replica && { shared: replica.shared, mayPoll: () => replica.mayPoll() };
  await using daemon: Daemon = new Daemon(config, { world, store, ...replicated });
  await using events = await EventStore.open(world, store.assertHeld);
  if (replica === null) {
    events.started("synclag", world.past == null ? store.restored.aliveMs : world.nowMs());
    daemon.startPolling();
  }
  await using history = await HistoryStore.open(world, store.assertHeld);
  await using _handsOver = replica;
  using reloader = new Reloader(world, config, {
    reloaded: (next) => {
      daemon.apply(next);
      replica?.reloaded();
      events.reloaded();
    },
    failed: (detail) => events.reloadFailed(detail),
  });
  let url = "";
  await using notifier = new Notifier(daemon, { ...world, pageUrl: () => url });
  const httpErrors = new HttpErrors(world.logger);
  const report = (): Report => ({
    ...daemon.report(),
    reload_error: reloader.state.error,
    ...(replica && { replica: replica.state() }),
  });
  await using server = await startHttpServer(
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
  );
  url = server.url;
  await store.publishUrl(url);
  replica?.start(`${hostname()}:${new URL(server.url).port}`, { daemon, events, notifier });
  await using _loop = startReportLoop(daemon, history, events, notifier, world);
  reloader.watch();
  logStart(config, world, server.url);
  await use({ url: server.url, report: () => daemon.report(), reload: async () => reloader.reload() });
  reloader[Symbol.dispose]();
  events.stopped();
  daemon.drain();
}
