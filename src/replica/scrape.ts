import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Daemon } from "../daemon/daemon.ts";
import type { ScrapeReply } from "../io/http-server/routes/server-deps.ts";
import { shareNext } from "../io/share-next.ts";
import type { Prometheus } from "../metrics/registry.ts";
import type { Replica } from "./replica.ts";

export interface ScrapeOptions {
  readonly prometheus: Pick<Prometheus, "render" | "contentType">;
  readonly reloader: { readonly state: MetricsSource["reload"] };
  readonly httpErrors: { readonly count: number };
  readonly notifier: { readonly counts: MetricsSource["notifications"] };
  readonly events: Pick<MetricsSource, "incidents">;
  /** Null without a store. */
  readonly replica: Pick<Replica, "metrics" | "publish"> | null;
}

/**
 * Makes the reply of `/metrics`: one text of the current report for all scrapers. Scrapes that arrive while a text is made
 * share the next one.
 *
 * A leader hands over its state before it replies: if it dies right after the scrape, no counter of the next leader may be
 * lower.
 */
export function createScrape(
  daemon: Pick<Daemon, "prepare" | "metricsSource">,
  { prometheus, reloader, httpErrors, events, notifier, replica }: ScrapeOptions,
): () => Promise<ScrapeReply> {
  return shareNext(async () => {
    await daemon.prepare();
    const source = daemon.metricsSource({
      httpErrors: httpErrors.count,
      incidents: events.incidents,
      reload: reloader.state,
      notifications: notifier.counts,
      replica: replica?.metrics() ?? null,
    });
    await replica?.publish();
    // Compressed off the event loop; the next piece is rendered once the previous one is compressed.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    const gzipped = await pipeline(prometheus.render(source), gzip, buffer);
    return { contentType: prometheus.contentType, gzipped };
  });
}
