/**
 * How much sooner a fault of the default fleet is named because an endpoint in doubt is asked again before its
 * schedule does: `npx tsx bench/confirmation-polls.ts`. Simulated time, the real monitor, chains.yaml's schedules.
 */
import { readFileSync } from "node:fs";
import { parseConfig } from "../src/config/parse.ts";
import type { Observed } from "../src/core/chain/observed.ts";
import { type Endpoint, endpointsOf, type Fleet } from "../src/core/model/fleet.ts";
import type { Observation } from "../src/core/model/observation.ts";
import { formatDuration } from "../src/core/model/text.ts";
import { Monitor } from "../src/daemon/monitor.ts";
import { confirmationDelayMs, type Stability } from "../src/daemon/polling/confirmations.ts";
import { LONGEST_RETRY_DELAY_MS } from "../src/schedule/retry-delay.ts";
import { markdownTable } from "../test/worlds/figures.ts";

const T0 = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;
const LATENCY_MS = 300;
/** A poll that hangs has a second try: twice the deadline, and a pause. */
const HANGING_MS = 20_000 + LONGEST_RETRY_DELAY_MS;
/** Each fault begins at so many instants, spread evenly over the interval. */
const PHASES = 12;

type Fault = "answers 502" | "hangs" | "stands still";
const FAULTS: readonly Fault[] = ["answers 502", "hangs", "stands still"];

const config = parseConfig(readFileSync("chains.yaml", "utf8"), {
  file: "chains.yaml",
  env: { THEGRAPH_API_KEY: "0123456789abcdef0123456789abcdef" },
  readFile: (path) => readFileSync(path, "utf8"),
});

function compare(endpoint: Endpoint, fault: Fault): Record<string, string> {
  const alone = timesToName(endpoint, fault, "never");
  const looked = timesToName(endpoint, fault, "changing");
  return {
    indexer: `${endpoint.protocol}/${endpoint.variant}/${endpoint.tier}`,
    every: formatDuration(endpoint.pollIntervalMs),
    fault,
    "by its schedule: mean": formatDuration(mean(alone)),
    worst: formatDuration(Math.max(...alone)),
    "with confirmation polls: mean": formatDuration(mean(looked)),
    "worst ": formatDuration(Math.max(...looked)),
  };
}

function timesToName(endpoint: Endpoint, fault: Fault, looks: "never" | "changing"): readonly number[] {
  return Array.from({ length: PHASES }, (_, phase) =>
    timeToName({ endpoint, fault, looks, phase: (phase + 0.5) / PHASES }),
  );
}

interface Case {
  readonly endpoint: Endpoint;
  readonly fault: Fault;
  readonly looks: "never" | "changing";
  readonly phase: number;
}

/** From the fault until the report says so, in milliseconds. */
function timeToName({ endpoint, fault, looks, phase }: Case): number {
  const fleet = fleetAround(endpoint);
  let nowMs = T0;
  const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
  const faultMs = T0 + 4 * Math.max(endpoint.pollIntervalMs, HOUR_MS / 4) + phase * endpoint.pollIntervalMs;
  const agenda = new Agenda(fleet, endpoint);
  for (;;) {
    const { polled, atMs } = agenda.next();
    const isFaulty = polled === endpoint && atMs >= faultMs;
    const observations = observe(polled, atMs, { fault: isFaulty ? fault : null, faultMs });
    nowMs = observations[0]?.receivedAtMs ?? atMs;
    const observed = monitor.observe(observations);
    if (isFaulty && isNamed(monitor, endpoint)) {
      return nowMs - faultMs;
    }
    if (polled === endpoint) {
      agenda.answered(nowMs, looks === stabilityOf(observed));
    }
  }
}

/** What is polled next: by the schedules, or as a confirmation poll of the one endpoint. */
class Agenda {
  readonly #endpoint: Endpoint;
  readonly #due: Map<Endpoint, number>;
  #lookMs = Number.POSITIVE_INFINITY;
  #looks = 0;
  #busyUntilMs = T0;

  constructor(fleet: Fleet, endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#due = new Map(endpointsOf(fleet).map((one) => [one, T0]));
  }

  next(): { readonly polled: Endpoint; readonly atMs: number } {
    const [next, dueMs] = [...this.#due].reduce((first, other) => (other[1] < first[1] ? other : first));
    if (this.#lookMs < dueMs) {
      const atMs = this.#lookMs;
      this.#lookMs = Number.POSITIVE_INFINITY;
      this.#looks += 1;
      return { polled: this.#endpoint, atMs };
    }
    this.#due.set(next, dueMs + next.pollIntervalMs);
    if (next !== this.#endpoint) {
      return { polled: next, atMs: dueMs };
    }
    // A round that finds the former poll still under way is skipped.
    if (dueMs < this.#busyUntilMs) {
      return this.next();
    }
    this.#looks = 0;
    return { polled: next, atMs: dueMs };
  }

  answered(nowMs: number, isLookWanted: boolean): void {
    const delayMs = isLookWanted ? confirmationDelayMs(this.#endpoint.pollIntervalMs, this.#looks) : null;
    this.#busyUntilMs = nowMs;
    this.#lookMs = delayMs === null ? Number.POSITIVE_INFINITY : nowMs + delayMs;
  }
}

function stabilityOf({ changing }: Observed): Stability {
  return changing.length > 0 ? "changing" : "stable";
}

/** The endpoint with all that speaks of one of its chains. */
function fleetAround(endpoint: Endpoint): Fleet {
  const { fleet } = config;
  const slug = endpoint.chain ?? "base";
  const onChain = (one: Endpoint): Endpoint => ({
    ...one,
    targets: one.targets.filter(({ chain }) => chain === slug),
  });
  return {
    ...fleet,
    chains: fleet.chains.filter((chain) => chain.slug === slug),
    indexers: fleet.indexers.map((indexer) => ({
      ...indexer,
      endpoints: indexer.endpoints.flatMap((one) =>
        one.targets.some(({ chain }) => chain === slug) ? [one === endpoint ? endpoint : onChain(one)] : [],
      ),
    })),
    rpcEndpoints: fleet.rpcEndpoints.filter(({ chain }) => chain === slug),
  };
}

function observe(
  { key, targets }: Endpoint,
  askedMs: number,
  { fault, faultMs }: { readonly fault: Fault | null; readonly faultMs: number },
): readonly Observation[] {
  const sources = targets.length === 0 ? [key] : targets.map((target) => target.key);
  const times = { sentAtMs: askedMs, receivedAtMs: askedMs + (fault === "hangs" ? HANGING_MS : LATENCY_MS) };
  if (fault === "hangs" || fault === "answers 502") {
    const reason = fault === "hangs" ? "timeout" : "http_status";
    return sources.map((source) => ({ ...times, source, kind: "failed", reason, detail: fault }));
  }
  const chainMs = fault === null ? askedMs : Math.min(askedMs, faultMs);
  const head = {
    block: 20_000_000 + Math.floor((chainMs - T0) / 2_000),
    timestampSec: Math.floor(chainMs / 2_000) * 2,
    hash: null,
    deployment: null,
    indexingErrors: null,
  };
  return sources.map((source) => ({ ...times, source, kind: "head", head }));
}

function isNamed(monitor: Monitor, { targets }: Endpoint): boolean {
  const keys = new Set(targets.map(({ key }) => key));
  const reports = monitor.report().chains.flatMap((chain) => chain.targets);
  return reports.some(
    ({ target, status }) => keys.has(target.key) && status !== "ok" && status !== "unknown",
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// At the end: classes are not hoisted.
const rows = config.fleet.indexers.flatMap((indexer) => {
  const endpoint = indexer.endpoints.find(({ chain }) => chain === null || chain === "base");
  return endpoint === undefined ? [] : FAULTS.map((fault) => compare(endpoint, fault));
});
console.log(markdownTable(rows));
