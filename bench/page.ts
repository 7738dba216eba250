/** How long a page takes, first byte and complete, and how big it is: `npx tsx bench/page.ts`; needs Debian's chromium. */
import { get } from "node:http";
import { type Browser, chromium } from "playwright-core";
import { planFleet } from "../src/budgets/plan.ts";
import type { Config } from "../src/config/config.ts";
import { parseConfig } from "../src/config/parse.ts";
import { endpointsOf } from "../src/core/model/fleet.ts";
import type { Observation } from "../src/core/model/observation.ts";
import { inspectChain } from "../src/daemon/inspect-chain.ts";
import { Monitor } from "../src/daemon/monitor.ts";
import { ExchangeLog } from "../src/daemon/polling/exchange-log.ts";
import { Recorder } from "../src/daemon/recorder.ts";
import { type HttpServer, startHttpServer } from "../src/io/http-server/server.ts";

const SIZES = [
  { targets: 140, chains: 35, variants: 2 },
  { targets: 2_000, chains: 250, variants: 4 },
];
const PATHS = [
  "/",
  "/chains/c0",
  "/plan",
  "/api/v1/status",
  "/api/v1/history/lockup/c0",
  "/api/v1/health/lockup/c0",
];
const TIMES = 41;
const STEP_MS = 15_000;
const DAY_STEPS = 5_760;
const POLLS = 20;

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
console.log(
  "Medians of 41, ms, on loopback; one target in eleven is not ok; each request finds a new report to compose.",
);
console.log("Painted: Chromium, from the start of the navigation to the load event, at 1280 × 800.\n");
try {
  for (const size of SIZES) {
    await measure(size, browser);
  }
} finally {
  await browser.close();
}

async function measure(size: (typeof SIZES)[number], chrome: Browser): Promise<void> {
  const config = configOf(size);
  const { server, poll } = await serve(config);
  await using _ = server;
  console.log(`${endpointsOf(config.fleet).length} targets on ${size.chains} chains`);
  for (const path of PATHS) {
    const samples: Sample[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      poll();
      samples.push(await request(server.url + path));
    }
    const painted = path.startsWith("/api") ? null : await paint(chrome, server.url + path, poll);
    const cells = [
      path.padEnd(28),
      `${(median(samples.map(({ bytes }) => bytes)) / 1_000).toFixed(1)} kB`.padStart(10),
      `first byte ${median(samples.map(({ firstMs }) => firstMs)).toFixed(1)}`.padStart(18),
      `complete ${median(samples.map(({ completeMs }) => completeMs)).toFixed(1)}`.padStart(18),
      painted === null ? "" : `painted ${painted.toFixed(0)}`.padStart(14),
    ];
    console.log(cells.join(""));
  }
  console.log("");
}

interface Sample {
  readonly bytes: number;
  readonly firstMs: number;
  readonly completeMs: number;
}

function request(url: string): Promise<Sample> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      const firstMs = performance.now() - startedMs;
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("end", () => resolve({ bytes, firstMs, completeMs: performance.now() - startedMs }));
    }).on("error", reject);
  });
}

async function paint(chrome: Browser, url: string, poll: () => void): Promise<number> {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const durations: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    poll();
    await page.goto(url, { waitUntil: "load" });
    const took: unknown = await page.evaluate("performance.getEntriesByType('navigation')[0].duration");
    durations.push(Number(took));
  }
  await context.close();
  return median(durations);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function configOf({ chains, variants }: (typeof SIZES)[number]): Config {
  const slugs = Array.from({ length: chains }, (_, index) => `c${index}`);
  const listed = slugs.map(
    (slug, index) => `  ${slug}: { id: ${index + 1}, name: Chain ${index}, block_time: 2s }`,
  );
  const indexers = Array.from(
    { length: variants },
    (_, index) =>
      `    - { variant: v${index}, dialect: graph, url: "https://v${index}.example/{protocol}/{chain}", schedule: "*/15 * * * * *", chains: [${slugs.join(", ")}] }`,
  );
  const text = `version: 1\nchains:\n${listed.join("\n")}\nprotocols:\n  lockup:\n${indexers.join("\n")}\n  airdrops:\n${indexers.join("\n")}\n`;
  return parseConfig(text, { file: "bench.yaml", env: {}, readFile: () => "" });
}

/** The server over a fleet that was polled for a while, one of its chains for a day. */
async function serve(config: Config): Promise<{ readonly server: HttpServer; readonly poll: () => void }> {
  const targets = endpointsOf(config.fleet).flatMap((endpoint) => endpoint.targets);
  let nowMs = Date.now();
  const monitor = new Monitor(config.fleet, { nowMs: () => nowMs, budgets: () => [] });
  const recorder = new Recorder();
  const observe = () => {
    nowMs += STEP_MS;
    monitor.observe(targets.map(({ key }, index) => observationOf(key, index, nowMs)));
  };
  for (let poll = 0; poll < POLLS; poll += 1) {
    observe();
  }
  const [chain] = monitor.report().chains;
  for (let step = DAY_STEPS; chain !== undefined && step >= 0; step -= 1) {
    recorder.record(chain, nowMs - step * STEP_MS);
  }
  const journal = new ExchangeLog();
  for (const endpoint of endpointsOf(config.fleet)) {
    const times = { sentAtMs: nowMs, receivedAtMs: nowMs + 100 };
    for (let time = 0; time < 5; time += 1) {
      journal.note(endpoint, {
        ...times,
        asked: '{"query":"{ _meta { block { number } } }"}',
        httpStatus: 200,
        outcome: "usable",
        text: "x".repeat(200),
      });
    }
  }
  const plan = planFleet(config.fleet, config.poll);
  const fine = { ok: true, detail: "Fine" };
  const server = await startHttpServer(
    { host: "127.0.0.1", port: 0 },
    {
      report: () => monitor.report(),
      past: (chain, keys, span) => recorder.past(chain, keys, span),
      endpoints: (chain) => inspectChain(config, chain, (key) => journal.of(key)),
      plan: () => plan,
      onNews: () => () => undefined,
      statusesDocument: () => "",
      metrics: () => Promise.resolve({ contentType: "text/plain", gzipped: Buffer.of() }),
      healthy: () => fine,
      ready: () => fine,
      reload: null,
      version: "0.0.0",
    },
  );
  // The clock stands still between polls of one target: a new report, though little is new in it.
  const poll = () => void monitor.observe(targets.slice(0, 1).map(({ key }) => observationOf(key, 0, nowMs)));
  return { server, poll };
}

/** One in eleven fails, the rest is a few blocks apart. */
function observationOf(source: string, index: number, nowMs: number): Observation {
  const times = { source, sentAtMs: nowMs - 200, receivedAtMs: nowMs };
  if (index % 11 === 0) {
    return { ...times, kind: "failed", reason: "timeout", detail: "no answer within 10 s" };
  }
  const block = Math.floor(nowMs / 2_000) - (index % 3);
  const head = { block, timestampSec: block * 2, hash: null, deployment: "QmBench", indexingErrors: false };
  return { ...times, kind: "head", head };
}
