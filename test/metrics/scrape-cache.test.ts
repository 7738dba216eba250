import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { createScrapeCache } from "../../src/metrics/scrape-cache.ts";
import { fullReport, metricsSource } from "../support/metrics-source.ts";

describe("shareScrapes()", () => {
  it("gives all pieces, gzipped", async () => {
    const scrape = createScrapeCache(pieces(["synclag_up 1\n", "", 'synclag_up{chain="ø"} 0\n']));

    const body = await scrape(metricsSource());

    expect(gunzipSync(body).toString()).toBe('synclag_up 1\nsynclag_up{chain="ø"} 0\n');
  });

  it("renders one text for all scrapes of a report", async () => {
    const { render, count } = counting();
    const scrape = createScrapeCache(render);
    const source = metricsSource();

    const atOnce = await Promise.all([scrape(source), scrape({ ...source }), scrape(source)]);
    const later = await scrape({ ...source, endpoints: [] });

    expect(count()).toBe(1);
    expect(new Set([...atOnce, later]).size).toBe(1);
  });

  it.each([
    { what: "another report", change: { report: fullReport() } },
    { what: "another outcome of a reload", change: { reload: { successful: false, lastSuccessMs: 0 } } },
  ])("makes a new text for $what", async ({ change }) => {
    const { render, count } = counting();
    const scrape = createScrapeCache(render);
    const source = metricsSource();
    await scrape(source);

    await scrape({ ...source, ...change });

    expect(count()).toBe(2);
  });

  it("lets the event loop turn before each next piece", async () => {
    const turns: number[] = [];
    using turning = countTurns();
    const scrape = createScrapeCache(async function* () {
      for (let piece = 0; piece < 20; piece += 1) {
        turns.push(turning.count());
        yield "x".repeat(65_536);
      }
    });

    await scrape(metricsSource());

    const between = turns.slice(1).map((turn, index) => turn - (turns[index] ?? 0));
    expect(between).toHaveLength(19);
    expect(Math.min(...between)).toBeGreaterThan(0);
  });

  it("tells everybody of a bug that stopped it, and is not stopped the next time", async () => {
    let isBroken = true;
    const scrape = createScrapeCache(async function* () {
      yield "synclag_up 1\n";
      if (isBroken) {
        throw new Error("A bug");
      }
    });
    const source = metricsSource();

    const broken = await Promise.allSettled([scrape(source), scrape(source)]);
    isBroken = false;
    const next = await scrape(metricsSource());

    expect(broken.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(gunzipSync(next).toString()).toBe("synclag_up 1\n");
  });
});

function pieces(texts: readonly string[]): () => AsyncIterable<string> {
  return async function* () {
    yield* texts;
  };
}

function counting(): {
  readonly render: (source: MetricsSource) => AsyncIterable<string>;
  readonly count: () => number;
} {
  let count = 0;
  return {
    async *render() {
      count += 1;
      yield "synclag_up 1\n";
    },
    count: () => count,
  };
}

function countTurns(): Disposable & { readonly count: () => number } {
  let count = 0;
  let immediate = setImmediate(turn);
  function turn(): void {
    count += 1;
    immediate = setImmediate(turn);
  }
  return { count: () => count, [Symbol.dispose]: () => clearImmediate(immediate) };
}
