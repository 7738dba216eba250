import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { Report } from "../core/model/report.ts";

/**
 * Renders and gzips the text of a scrape once for all scrapes of the same report. It is kept compressed, at a thirtieth of
 * its size, and as long as its report.
 */
export function createScrapeCache(
  render: (source: MetricsSource) => AsyncIterable<string>,
): (source: MetricsSource) => Promise<Buffer> {
  const made = new WeakMap<Report, { readonly source: MetricsSource; readonly body: Promise<Buffer> }>();
  return (source) => {
    const known = made.get(source.report);
    if (known !== undefined && isSame(known.source, source)) {
      return known.body;
    }
    // Compressed off the event loop; the next piece is rendered once the previous one is compressed.
    const body = pipeline(render(source), createGzip({ level: constants.Z_BEST_SPEED }), buffer);
    made.set(source.report, { source, body });
    return body;
  };
}

/** A reload, or another leader, changes its own metrics, but not the report. */
function isSame(one: MetricsSource, other: MetricsSource): boolean {
  return one.reload === other.reload && JSON.stringify(one.replica) === JSON.stringify(other.replica);
}

/**
 * Runs a task one run at a time. Calls made during a run share the next one, so no call gets the result of a run that began
 * before it.
 */
export function shareNext<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | null = null;
  let next: Promise<Result> | null = null;

  function start(): Promise<Result> {
    next = null;
    current = run().finally(() => {
      current = null;
    });
    return current;
  }

  return () => {
    if (current === null) {
      return next ?? start();
    }
    next ??= current.then(start, start);
    return next;
  };
}
