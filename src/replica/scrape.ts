import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Daemon } from "../daemon/daemon.ts";
import type { ScrapeReply } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";
import type { Prometheus } from "../metrics/registry.ts";
import { reuseScrape } from "../metrics/reuse-scrape.ts";
import { createScrapeCache, isSameBesideReport } from "../metrics/scrape-cache.ts";

/** The part of a replica that concerns its metrics. */
interface ScrapedReplica {
  readonly metrics: () => MetricsSource["replica"];
  /** Hands all that is known now to the other replicas; false if that failed. */
  readonly publish: () => Promise<boolean>;
}

export interface ScrapeOptions {
  readonly prometheus: Pick<Prometheus, "render" | "contentType">;
  readonly reloadState: () => MetricsSource["reload"];
  /** Null without a store. */
  readonly replica: ScrapedReplica | null;
  readonly world: Pick<World, "nowMs">;
}

/**
 * Makes what `/metrics` replies: a report at most two seconds old, one text for all scrapers of it.
 *
 * A leader serves only what it has handed over: were it to die right after the scrape, no counter of the next leader would be lower.
 */
export function createScrape(
  daemon: Daemon,
  { prometheus, reloadState, replica, world }: ScrapeOptions,
): () => Promise<ScrapeReply> {
  const textOf = createScrapeCache(prometheus.render);
  let handedOver: MetricsSource | null = null;

  async function readSource(): Promise<MetricsSource> {
    const source = daemon.metricsSource({ reload: reloadState(), replica: replica?.metrics() ?? null });
    if (replica === null || source.replica?.isLeader !== true || !source.replica.isPolling) {
      handedOver = null;
      return source;
    }
    if (await replica.publish()) {
      handedOver = source;
      return source;
    }
    const { loop, lostLogLines, reload } = source;
    return { ...(handedOver ?? source), loop, lostLogLines, reload, replica: replica.metrics() };
  }

  return reuseScrape({
    async make() {
      await daemon.prepare();
      const source = await readSource();
      const gzipped = await textOf(source);
      // Not the source itself: a large fleet's report would be held until the next scrape.
      const { reload, report } = source;
      const madeAtMs = report.generatedAtMs;
      return { contentType: prometheus.contentType, gzipped, madeAtMs, reload, replica: source.replica };
    },
    madeAtMs: ({ madeAtMs }) => madeAtMs,
    isCurrent: (made) =>
      isSameBesideReport(made, { reload: reloadState(), replica: replica?.metrics() ?? null }),
    nowMs: world.nowMs,
  });
}
