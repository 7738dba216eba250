import { createCleanup } from "./cleanup.ts";
import type { Config } from "./config/config.ts";
import type { Report } from "./core/model/report.ts";
import { Daemon } from "./daemon/daemon.ts";
import { startInsight } from "./daemon/insight.ts";
import { Reloader } from "./daemon/reloader.ts";
import { openStateStore, type StateStore } from "./daemon/state/store.ts";
import { logConfigWarnings, serverWarnings } from "./daemon/warnings.ts";
import { watchChanges } from "./daemon/watch-changes.ts";
import { startHttpServer } from "./io/http-server/server.ts";
import type { CheckResult } from "./io/http-server/server-deps.ts";
import { METRIC_FAMILIES } from "./metrics/families/all.ts";
import { createPrometheus } from "./metrics/registry.ts";
import { createScrapeCache } from "./metrics/scrape-cache.ts";
import type { World } from "./world.ts";

/** A running daemon. Disposing it stops everything, in reverse order. */
export interface App extends AsyncDisposable {
  readonly url: string;
  /** Settles if the daemon may not go on: another process has taken its state file over. */
  readonly lost: Promise<Error>;
  readonly report: () => Report;
  /** Reads the configuration anew; a bad file changes nothing. */
  readonly reload: () => Promise<CheckResult>;
}

/**
 * Wires and starts everything.
 *
 * @throws {StateHeldError} If another process has the state file.
 * @throws If it cannot listen. Nothing is left running then.
 */
export async function startApp(config: Config, world: World): Promise<App> {
  const cleanup = createCleanup();
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<Error>((resolve) => {
    lose = resolve;
  });
  try {
    const prometheus = createPrometheus({ families: METRIC_FAMILIES, build: world.build });
    const scrape = createScrapeCache(prometheus.render);
    const keeper: StateStore = cleanup.use(
      await openStateStore(world.stateFile, {
        world,
        // Nothing is written before the daemon lives, which is made of what was read.
        keepsake: () => daemon.keepsake(),
        onLost: (error) => lose(error),
      }),
    );
    const daemon: Daemon = new Daemon(config, { world, observeDuration: prometheus.observePoll, keeper });
    cleanup.use(daemon);
    const insight = cleanup.use(await startInsight(daemon, world));
    const reloader = new Reloader({
      world,
      listen: config.listen,
      apply: async (next) => {
        await daemon.apply(next);
        prometheus.retain(next.fleet.indexers);
      },
    });

    const server = cleanup.use(
      await startHttpServer(
        config.listen,
        {
          ...insight.source,
          report: () => daemon.report(),
          metrics: async () => {
            await daemon.prepare();
            const gzipped = await scrape(daemon.metricsSource(reloader.state));
            return { contentType: prometheus.contentType, gzipped };
          },
          healthy: () => daemon.healthy(),
          ready: () => daemon.ready(),
          reload: world.isLifecycleEnabled ? () => reloader.reload() : null,
          version: world.build.version,
        },
        { web: world.web ?? null },
      ),
    );
    await keeper.announce(server.url);
    cleanup.use(watchChanges(daemon, insight, world));
    announce(config, { world, url: server.url });
    return {
      url: server.url,
      lost,
      report: () => daemon.report(),
      reload: () => reloader.reload(),
      async [Symbol.asyncDispose]() {
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

function announce(config: Config, { world, url }: { readonly world: World; readonly url: string }): void {
  const { fleet } = config;
  logConfigWarnings(world.logger, config);
  for (const warning of serverWarnings(config.listen, world.web?.current ?? null)) {
    world.logger.warn(warning);
  }
  const endpoints = fleet.indexers.reduce((count, indexer) => count + indexer.endpoints.length, 0);
  world.logger.info(
    {
      url,
      version: world.build.version,
      chains: fleet.chains.length,
      indexers: fleet.indexers.length,
      endpoints,
    },
    "Started",
  );
}
