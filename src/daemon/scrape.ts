import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { ScrapeReply } from "../io/http-server/routes/server-deps.ts";
import type { Prometheus } from "../metrics/registry.ts";
import { createScrapeCache } from "../metrics/scrape-cache.ts";
import type { Daemon } from "./daemon.ts";

/** Makes what `/metrics` replies: the report of now, one text for all scrapers of it. */
export function createScrape(
  daemon: Daemon,
  prometheus: Pick<Prometheus, "render" | "contentType">,
  reloadState: () => MetricsSource["reload"],
): () => Promise<ScrapeReply> {
  const scrape = createScrapeCache(prometheus.render);
  return async () => {
    await daemon.prepare();
    const gzipped = await scrape(daemon.metricsSource(reloadState()));
    return { contentType: prometheus.contentType, gzipped };
  };
}
