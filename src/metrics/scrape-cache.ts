import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Report } from "../core/model/report.ts";

interface Scrape {
  readonly source: MetricsSource;
  readonly body: Promise<Buffer>;
}

/**
 * Renders and gzips the text of a scrape once for all scrapes of the same report. It is kept compressed, at a thirtieth of
 * its size, and as long as its report.
 */
export function createScrapeCache(
  render: (source: MetricsSource) => AsyncIterable<string>,
): (source: MetricsSource) => Promise<Buffer> {
  const made = new WeakMap<Report, Scrape>();
  return (source) => {
    const { report } = source;
    const known = made.get(report);
    if (known !== undefined && isSame(known.source, source)) {
      return known.body;
    }
    const body = compress(render(source));
    made.set(report, { source, body });
    return body;
  };
}

/** A reload, or another leader, changes its own metrics, but not the report. */
function isSame(one: MetricsSource, other: MetricsSource): boolean {
  return (
    one.reload === other.reload &&
    one.replica?.isLeader === other.replica?.isLeader &&
    one.replica?.isPolling === other.replica?.isPolling &&
    one.replica?.isStoreUp === other.replica?.isStoreUp
  );
}

/** Compresses off the event loop; the next piece is rendered once the previous one is compressed. */
async function compress(pieces: AsyncIterable<string>): Promise<Buffer> {
  return await pipeline(pieces, createGzip({ level: constants.Z_BEST_SPEED }), buffer);
}
