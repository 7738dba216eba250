import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { percentile } from "../accuracy/figures.ts";
import { playFleet } from "./played-fleet.ts";
import { type RunningSynclag, startSynclag } from "./running-synclag.ts";
import type { Extent, Figure, Subject } from "./subject.ts";

/** What a fault is called in the tables, what it is in the simulator, and whether a poll tries again before it says so. */
const FAULTS = [
  { name: "503", group: "503, refused", fail: answering("http_503") },
  { name: "refused", group: "503, refused", fail: refusing },
  { name: "failed", group: "failed, rejected", fail: answering("indexing_error") },
  { name: "rejected", group: "failed, rejected", fail: answering("unknown_key") },
] as const;
/** One in five is well: where nothing at all can be reached, no target is to blame. */
const WELL = "well";
const CADENCES_SEC = { whole: [1, 2, 5, 15], quick: [1, 2] } as const;
const CHAINS = { whole: 12, quick: 6 } as const;
const MARGIN_SEC = 1;
/** Longer than any of these faults needs for its two polls. */
const DEADLINE_SEC = 30;
/** Less often than as fast as it can be: each scrape takes from what the polls have. */
const LOOK_MS = 100;

export const subject: Subject = {
  title: "Detection",
  about: `
Real time: a built daemon polls simulated indexers, in another process, at several cadences side by side, and each endpoint (one target, a host of its own,
answers in 20–400 ms) breaks once, at a random instant of its interval. \`/metrics\` is read ten times a second: what is counted is the time
from the fault to the first scrape that shows it, so that it includes the scrape itself. Faults that any poll can see:

- *503, refused*: such a failure may be over a moment later, so that a poll tries once more after 0.1–0.2 s before it says so (\`retries: 0\` turns that off).
- *failed, rejected*: a deployment with indexing errors, and a key that the gateway no longer knows. Nothing is tried again.

\`synclag_up\` follows the last poll, and is what the goal is about: one interval and a second. \`synclag_status\` waits for two polls that agree
([why](statuses.md#when-a-status-changes)): the second is a look a quarter of the interval later where the budget has a request to spare, else the next
poll. Not measured in real time: what hangs (it is known after the deadline of 10 s and that of its second try), what stands still (it is none before its limit, 10 min), and
the longer cadences of \`schedule: auto\`: [BUDGETS.md](BUDGETS.md#second-looks) has those, in simulated time.`,

  async measure(extent) {
    await using fleet = await playFleet(chainsYaml(extent));
    await using synclag = await startSynclag(fleet);
    await synclag.untilReady();
    const seen = await detectAll(synclag, { simulated: fleet.simulated, extent });
    return CADENCES_SEC[extent].flatMap((sec) => figuresOf(sec, seen));
  },
};

type Fault = (typeof FAULTS)[number];

/** An endpoint that breaks, and what of it was seen when; in milliseconds after the fault. */
interface Break {
  readonly cadenceSec: number;
  readonly fault: Fault;
  readonly chain: string;
  brokenAtMs: number;
  upAfterMs: number | null;
  statusAfterMs: number | null;
}

async function detectAll(
  synclag: RunningSynclag,
  { simulated, extent }: { readonly simulated: SimulatedFleet; readonly extent: Extent },
): Promise<readonly Break[]> {
  const breaks: readonly Break[] = CADENCES_SEC[extent].flatMap((cadenceSec) =>
    FAULTS.flatMap((fault) =>
      slugs(extent).map((chain) => ({
        cadenceSec,
        fault,
        chain,
        brokenAtMs: Number.POSITIVE_INFINITY,
        upAfterMs: null,
        statusAfterMs: null,
      })),
    ),
  );
  for (const one of breaks) {
    setTimeout(() => strike(one, simulated), Math.random() * one.cadenceSec * 1_000);
  }
  const untilMs = Date.now() + (Math.max(...CADENCES_SEC[extent]) + DEADLINE_SEC) * 1_000;
  while (breaks.some(({ statusAfterMs }) => statusAfterMs === null)) {
    if (Date.now() > untilMs) {
      throw new Error(`Cannot measure how soon a fault shows: ${undetected(breaks)}`);
    }
    await sleep(LOOK_MS);
    look(breaks, await (await fetch(`${synclag.url}/metrics`)).text());
  }
  return breaks;
}

function strike(one: Break, simulated: SimulatedFleet): void {
  one.brokenAtMs = Date.now();
  one.fault.fail(simulated, keyOf(one));
}

function look(breaks: readonly Break[], exposition: string): void {
  const nowMs = Date.now();
  const down = seriesAt(exposition, /^synclag_up\{(.*)\} 0$/gm);
  const notOk = seriesAt(exposition, /^synclag_status\{(.*),status="ok"\} 0$/gm);
  for (const one of breaks) {
    const key = keyOf(one);
    one.upAfterMs ??= down.has(key) ? nowMs - one.brokenAtMs : null;
    one.statusAfterMs ??= notOk.has(key) ? nowMs - one.brokenAtMs : null;
  }
}

/** The keys of the targets whose series match. */
function seriesAt(exposition: string, pattern: RegExp): ReadonlySet<string> {
  return new Set(
    [...exposition.matchAll(pattern)].map(([, labels = ""]) => {
      const of = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
      return `${of("protocol")}/${of("variant")}/${of("tier")}/${of("chain")}`;
    }),
  );
}

function figuresOf(cadenceSec: number, breaks: readonly Break[]): readonly Figure[] {
  const groups = [...new Set(FAULTS.map(({ group }) => group))];
  return groups.flatMap((group) => {
    const found = breaks.filter((one) => one.cadenceSec === cadenceSec && one.fault.group === group);
    const seconds = (times: readonly (number | null)[], p: number): number =>
      percentile(
        times.map((ms) => (ms ?? Number.NaN) / 1_000),
        p,
      );
    const up = found.map(({ upAfterMs }) => upAfterMs);
    const status = found.map(({ statusAfterMs }) => statusAfterMs);
    const common = { table: "From the fault to /metrics", row: `${group}, polled each ${cadenceSec} s` };
    return [
      { ...common, column: "`synclag_up` p50, s", value: seconds(up, 0.5) },
      { ...common, column: "`synclag_up` p99, s", value: seconds(up, 0.99), atMost: cadenceSec + MARGIN_SEC },
      { ...common, column: "`synclag_status` p50, s", value: seconds(status, 0.5) },
      { ...common, column: "`synclag_status` p99, s", value: seconds(status, 0.99) },
    ];
  });
}

function undetected(breaks: readonly Break[]): string {
  return breaks
    .filter(({ statusAfterMs }) => statusAfterMs === null)
    .map(keyOf)
    .join(", ");
}

/** Its variant is the fault that will strike it; one variant of each chain stays well. */
function chainsYaml(extent: Extent): string {
  const chains = slugs(extent);
  const variants = [WELL, ...FAULTS.map(({ name }) => name)];
  return stringify({
    version: 1,
    // Waiting for a free place is not what is measured.
    poll: { concurrency: 100 },
    chains: Object.fromEntries(chains.map((slug, index) => [slug, { id: index + 1, block_time: "2s" }])),
    protocols: Object.fromEntries(
      CADENCES_SEC[extent].map((sec) => [
        protocolOf(sec),
        variants.map((variant) => ({
          variant,
          dialect: "graph",
          schedule: `*/${sec} * * * * *`,
          chains: Object.fromEntries(
            chains.map((slug) => [slug, { url: `https://${protocolOf(sec)}-${variant}-${slug}.example/x` }]),
          ),
        })),
      ]),
    ),
  });
}

function slugs(extent: Extent): readonly string[] {
  return Array.from({ length: CHAINS[extent] }, (_, index) => `chain-${index}`);
}

function protocolOf(cadenceSec: number): string {
  return `each-${cadenceSec}-s`;
}

function keyOf({ cadenceSec, fault, chain }: Pick<Break, "cadenceSec" | "fault" | "chain">): string {
  return `${protocolOf(cadenceSec)}/${fault.name}/production/${chain}`;
}

function answering(name: "http_503" | "indexing_error" | "unknown_key") {
  return (simulated: SimulatedFleet, key: string): void => simulated.endpoint(key).fail(name);
}

function refusing(simulated: SimulatedFleet, key: string): void {
  const host = key.replaceAll("/production", "").replaceAll("/", "-");
  void simulated.origin(`${host}.example`).close();
}
