import { describe, expect, it } from "vitest";
import { endpointsOf, type Fleet, sourceKeysOf } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import type { ChainReport } from "../../src/core/model/report.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { fleetOf } from "../worlds/packaged-cadences.ts";

const T0 = Date.UTC(2026, 10, 20);
const ROUND_MS = 15_000;
const MINUTE_MS = 60_000;

describe("a reply whose body comes slowly", () => {
  it("leaves the lags and the block interval as they are, though others reply meanwhile", () => {
    let nowMs = T0;
    const monitor = new Monitor(fleetOf(2_000, false), { nowMs: () => nowMs, budgets: () => [] });
    const reply = (variant: string, repliedMs: number, behindMs: number): void => {
      const block = 1_000_000 + Math.floor((repliedMs - behindMs - T0) / 2_000);
      monitor.observe([replyOf(`airdrops/${variant}/bench`, { block, repliedMs, timestampSec: null })]);
    };

    for (let round = 1; round <= 80; round += 1) {
      const roundMs = T0 + round * ROUND_MS;
      const othersMs = roundMs + (round > 60 ? 8_000 : 200);
      nowMs = roundMs + 8_000;
      reply("subgraph/testing", othersMs, 400_000);
      reply("subgraph/production", othersMs, 0);
      // The head of this reply, and with it the height, is the oldest; its body is the last to arrive.
      reply("multichain/production", roundMs + 100, 0);
    }

    const [chain] = monitor.report().chains;
    const behind = chain?.targets.find(({ target }) => target.tier === "testing");
    expect(behind?.status).toBe("ok");
    expect(Math.abs((behind?.lagMs ?? 0) - 400_000)).toBeLessThanOrEqual(20_000);
    expect(Math.abs((chain?.blockIntervalMs ?? 0) - 2_000)).toBeLessThanOrEqual(50);
  });
});

interface Jump {
  /** The monotonic clock stands still in both. While the machine is suspended the chain goes on. */
  readonly cause: "suspended" | "set";
  readonly byMs: number;
  readonly intervalMs: number;
  readonly tells: "times" | "no times";
}

const JUMPS: readonly Jump[] = [250, 2_000, 12_000].flatMap((intervalMs) =>
  [30_000, 10 * MINUTE_MS, 480 * MINUTE_MS].flatMap((byMs) => [
    { cause: "suspended" as const, byMs, intervalMs, tells: "no times" as const },
    { cause: "suspended" as const, byMs, intervalMs, tells: "times" as const },
    { cause: "set" as const, byMs, intervalMs, tells: "no times" as const },
  ]),
);

describe("a wall clock that jumps ahead of the monotonic clock", () => {
  it.each(JUMPS)("by $byMs ms ($cause) accuses nobody: a block each $intervalMs ms, $tells", (jump) => {
    const wrong = ["a", "b", "c"].flatMap((seed) => playJump(jump, seed));

    expect(wrong).toEqual([]);
  });
});

/** Plays 35 minutes, the jump, and 5 minutes more, and returns what was wrong after the jump. */
function playJump({ byMs, cause, intervalMs, tells }: Jump, seed: string): readonly string[] {
  const random = createRandom(seed);
  const fleet = fleetOf(intervalMs, random() < 0.5);
  const jumpMs = 35 * MINUTE_MS + random() * ROUND_MS;
  let monotonicMs = 0;
  const wallMs = () => T0 + monotonicMs + (monotonicMs < jumpMs ? 0 : byMs);
  const chainMs = () => (cause === "suspended" ? wallMs() : T0 + monotonicMs);
  const headOf = () => 1_000_000 + Math.floor((chainMs() - T0) / intervalMs);
  const monitor = new Monitor(fleet, { nowMs: wallMs, monotonicMs: () => monotonicMs, budgets: () => [] });
  const wrong: string[] = [];
  for (const { atMs, source } of pollsOf(fleet, random)) {
    monotonicMs = atMs;
    const timestampSec = tells === "times" ? Math.floor(chainMs() / 1_000) : null;
    monitor.observe([replyOf(source, { block: headOf(), repliedMs: wallMs(), timestampSec })]);
    const afterMs = atMs - jumpMs;
    const found = monitor
      .report()
      .chains.flatMap((chain) => wrongIn(chain, { head: headOf(), intervalMs, afterMs }));
    wrong.push(...(afterMs < 0 ? [] : found));
  }
  return wrong;
}

/** All polls, in the order in which their replies arrive. */
function pollsOf(fleet: Fleet, random: () => number) {
  const rounds = Array.from({ length: (40 * MINUTE_MS) / ROUND_MS }, (_, round) => round * ROUND_MS);
  const polls = endpointsOf(fleet).flatMap((endpoint) => {
    const due = rounds.filter((roundMs) => roundMs % endpoint.pollIntervalMs === 0);
    return sourceKeysOf(endpoint).flatMap((source) =>
      due.map((roundMs) => ({ source, atMs: roundMs + random() * 5_000 })),
    );
  });
  return polls.toSorted((a, b) => a.atMs - b.atMs);
}

/** A target whose last height may be hours old is `unknown` until it is polled again. */
function wrongIn(
  { reference, targets }: ChainReport,
  at: { readonly head: number; readonly intervalMs: number; readonly afterMs: number },
): readonly string[] {
  const behindMs = (at.head - (reference?.block ?? 0)) * at.intervalMs;
  const isReferenceRight = at.afterMs < 2 * MINUTE_MS || (behindMs >= 0 && behindMs <= MINUTE_MS);
  const accused = targets.filter(
    ({ lagMs, status }) => (status !== "ok" && status !== "unknown") || (lagMs ?? 0) > MINUTE_MS,
  );
  return [
    ...(isReferenceRight ? [] : [`the reference is ${behindMs} ms behind`]),
    ...accused.map(({ detail, status, target: { key } }) => `${key} is ${status}: ${detail}`),
  ];
}

function replyOf(
  source: string,
  {
    block,
    repliedMs,
    timestampSec,
  }: { readonly block: number; readonly repliedMs: number; readonly timestampSec: number | null },
): Observation {
  const head = { block, timestampSec, hash: null, deployment: null, indexingErrors: null };
  return { kind: "head", source, sentAtMs: repliedMs - 100, receivedAtMs: repliedMs, head };
}
