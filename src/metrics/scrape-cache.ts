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
 * The text of a scrape, gzipped, made once for all who come while the report is the same, however many they are. It is
 * kept compressed, a thirtieth of its size, and no longer than its report.
 */
export function createScrapeCache(
  render: (source: MetricsSource) => AsyncIterable<string>,
): (source: MetricsSource) => Promise<Buffer> {
  const made = new WeakMap<Report, Scrape>();
  return (source) => {
    const { report, reload } = source;
    const known = made.get(report);
    // Whoever looks after a reload wants to know how it went.
    if (known?.reload === reload) {
      return known.body;
    }
    const body = compress(render(source));
    made.set(report, { reload, body });
    return body;
  };
}

/** Off the event loop, which turns while a piece is compressed; the next one is asked for after that. */
async function compress(pieces: AsyncIterable<string>): Promise<Buffer> {
  return await pipeline(pieces, createGzip({ level: constants.Z_BEST_SPEED }), buffer);
}
