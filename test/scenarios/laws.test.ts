import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FAILURE_REASONS, type Observation } from "../../src/core/model/observation.ts";
import { TIMES } from "../support/fast-check-seed.ts";
import {
  behind,
  dated,
  FIRST_BLOCK,
  type Script,
  ScriptedFleet,
  START_MS,
} from "../support/scripted-fleet.ts";
import { fleetYaml } from "./statuses/fleets.ts";

// These laws hold for every reply of the sources, in any order.

const FLEET = fleetYaml(["a", "b", "c", "d"], { rpc: 1 });
const KEYS = new ScriptedFleet(FLEET).keys("base");
const ROUND_SEC = 15;

/** What a source does in one round, from the plausible to the absurd. */
const anyHead = fc.record({
  kind: fc.constant("head" as const),
  offset: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -20, max: 2 }) },
    { weight: 2, arbitrary: fc.integer({ min: -5_000, max: 0 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(-999_000, 30_000_000, -10_000_000, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN),
    },
  ),
  aged: fc.option(fc.integer({ min: -7_200, max: 10_000 })),
  hash: fc.option(fc.constantFrom("0xa", "0xb")),
  deployment: fc.option(fc.constantFrom("Qm1", "Qm2")),
  indexingErrors: fc.option(fc.boolean()),
});
const anyReply = fc.oneof(
  { weight: 8, arbitrary: anyHead },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("not_started" as const, "missing" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("failed" as const),
      reason: fc.constantFrom(...FAILURE_REASONS),
    }),
  },
);
const anyRound = fc.uniqueArray(
  fc.record({
    source: fc.constantFrom(...KEYS),
    reply: anyReply,
    latencyMs: fc.integer({ min: 0, max: 900 }),
  }),
  { selector: ({ source }) => source },
);
const anyHistory = fc.array(anyRound, { minLength: 1, maxLength: 40 });
type Round = typeof anyRound extends fc.Arbitrary<infer T> ? T : never;

function observationsOf(round: Round, nowMs: number): readonly Observation[] {
  return round.map(({ latencyMs, reply, source }): Observation => {
    const times = { source, sentAtMs: nowMs - latencyMs, receivedAtMs: nowMs };
    switch (reply.kind) {
      case "head": {
        const { aged, deployment, hash, indexingErrors, offset } = reply;
        const block = FIRST_BLOCK + Math.floor((nowMs - START_MS) / 2_000) + offset;
        const timestampSec = aged === null ? null : nowMs / 1_000 - aged;
        return { ...times, kind: "head", head: { block, timestampSec, hash, deployment, indexingErrors } };
      }
      case "failed":
        return { ...times, kind: "failed", reason: reply.reason, detail: "" };
      default:
        return { ...times, kind: reply.kind };
    }
  });
}

/** Plays a history; `arranged` sets the order in which the replies of one round arrive. */
function play(
  history: readonly Round[],
  {
    on = new ScriptedFleet(FLEET),
    arranged = (round: readonly Observation[]): readonly Observation[] => round,
  } = {},
): ScriptedFleet {
  for (const round of history) {
    on.wait(`${ROUND_SEC}s`);
    on.observe(arranged(observationsOf(round, on.nowMs)));
  }
  return on;
}

describe("whatever sources reply", () => {
  it("no lag is negative or infinite, and none is reported without evidence", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 0, max: 900 }), (history, laterSec) => {
        const played = play(history).wait(`${laterSec + 1}s`);

        const { reference, targets, gaps } = played.chain();
        const stale = targets.filter(
          ({ last_success }) => played.nowMs - Date.parse(last_success ?? "1970-01-01") > 315_000,
        );
        for (const { lag_blocks, lag_seconds, block_timestamp } of targets) {
          expect(lag_blocks ?? 0).toBeGreaterThanOrEqual(0);
          expect(lag_seconds ?? 0).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(lag_blocks ?? 0) && Number.isFinite(lag_seconds ?? 0)).toBe(true);
          expect(reference === null && lag_blocks !== null).toBe(false);
          expect(reference === null && lag_seconds !== null && block_timestamp === null).toBe(false);
        }
        for (const target of stale) {
          expect(target).toMatchObject({
            block_number: null,
            lag_blocks: null,
            lag_seconds: null,
            preferred: false,
          });
          expect(["ok", "lagging", "stalled", "chain_halted"]).not.toContain(target.status);
          expect(gaps.map((gap) => gap.key)).not.toContain(target.key);
        }
      }),
      { numRuns: 20 * TIMES },
    );
  });

  it("the order in which replies of one instant arrive makes no difference", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer(), (history, seed) => {
        const shuffled = (round: readonly Observation[]): readonly Observation[] =>
          round.toSorted((a, b) => hash(a.source, seed) - hash(b.source, seed));

        expect(play(history, { arranged: shuffled }).chain()).toEqual(play(history).chain());
      }),
      { numRuns: 20 * TIMES },
    );
  });

  it("a restart does not change any report", () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (history, more) => {
        const restarted = play(history).restart();
        const through = play(history);

        expect(restarted.chain()).toEqual(through.chain());
        expect(play(more, { on: restarted }).chain()).toEqual(play(more, { on: through }).chain());
      }),
      { numRuns: 12 * TIMES },
    );
  });

  it("the state file stays small", () => {
    const round = KEYS.map((source, index) => ({
      source,
      reply: { kind: "head", offset: -index, aged: 0, hash: "0xa", deployment: null, indexingErrors: null },
      latencyMs: 100,
    })) satisfies Round;

    const played = play(Array.from({ length: 500 }, () => round));

    expect(played.saved().length).toBeLessThan(40_000);
  });
});

describe("the first rounds of a chain", () => {
  interface World {
    readonly liar: "a" | "rpc";
    readonly off: number;
    readonly dated: readonly string[];
  }
  const NAMES = ["a", "b", "c", "rpc"];
  const WORLDS: readonly World[] = [500, 900_000, -900_000].flatMap((off) =>
    (["a", "rpc"] as const).flatMap((liar) =>
      [[...NAMES], ["rpc"], ["b", "c", "rpc"]].map((withTimes) => ({ liar, off, dated: withTimes })),
    ),
  );
  /** A node whose block is new is believed until two that contradict it without times are seen to advance. */
  const isNodeBelieved = ({ dated: withTimes, liar, off }: World) =>
    liar === "rpc" && off > 0 && !withTimes.includes("b");

  /** The statuses at the end of each of three rounds, and all statuses of the honest sources in between. */
  function playRounds(world: World, order: readonly string[]): { ends: unknown; accused: readonly string[] } {
    const played = new ScriptedFleet(fleetYaml(["a", "b", "c"], { rpc: 1 }));
    for (const name of NAMES) {
      const off = name === world.liar ? world.off : 0;
      const script: Script = ({ head, time }) => ({
        block: head + off,
        timestampSec: world.dated.includes(name) ? time(head) : null,
      });
      played.script(name, script);
    }
    const accused: string[] = [];
    const ends = [1, 2, 3].map(() => {
      for (const name of order) {
        played.wait("1s").poll(name);
        const honest = played.chain().targets.filter(({ variant }) => variant !== world.liar);
        accused.push(...honest.map(({ status }) => status).filter((status) => status !== "ok"));
      }
      played.wait("11s");
      return played.chain().targets.map(({ reason, status }) => `${status} ${reason ?? ""}`);
    });
    return { ends, accused: [...new Set(accused)] };
  }

  it("end the same for many orders of arrival, and exclude no honest source", () => {
    const wrong = WORLDS.filter((world) => !isNodeBelieved(world)).filter((world) => {
      const orders = ordersOf(NAMES).filter((_, index) => index % 4 === 0);
      const played = orders.map((order) => playRounds(world, order));
      const ends = new Set(played.map((one) => JSON.stringify(one.ends)));
      // `unknown`: not polled yet, or a first height that waits for the others.
      return ends.size > 1 || played.some(({ accused }) => accused.some((status) => status !== "unknown"));
    });

    expect(wrong).toEqual([]);
  });
});

function ordersOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.length < 2
    ? [items]
    : items.flatMap((item) =>
        ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
      );
}

describe("a step of the wall clock, or a machine that sleeps", () => {
  const SOURCES = { "without times": behind(0), "with times": dated() };
  const STEPS = ["1m", "1h", "3h", "500h", "-1m", "-1h", "-3h", "-500h"];

  it.each(Object.entries(SOURCES))(
    "excludes no source %s, and the reports are right afterwards",
    (_, script) => {
      const wrong = STEPS.flatMap((step) => {
        const played = new ScriptedFleet(fleetYaml(["a", "b", "c"])).script("airdrops", script).run("15m");

        const meanwhile = played.setClock(step).statusesDuring("10m");
        const back = step.startsWith("-") ? step.slice(1) : `-${step}`;
        const afterwards = played.setClock(back).run("45s").statusesDuring("10m");

        // A fast clock cannot notice that it is fast: every block with a time looks old.
        const mayLookOld = script === SOURCES["with times"] && !step.startsWith("-");
        const accused = [...(mayLookOld ? [] : meanwhile), ...afterwards].filter(
          (status) => status !== "ok" && status !== "unknown",
        );
        const isRight = played.statuses().every((status) => status === "ok");
        return accused.length === 0 && isRight && played.chain().reference?.block_number === played.head()
          ? []
          : [{ step, accused, isRight }];
      });

      expect(wrong).toEqual([]);
    },
  );
});

function hash(text: string, seed: number): number {
  return [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, seed);
}
