import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Observation } from "../../src/core/model/observation.ts";
import type { ParityReading } from "../../src/core/model/parity.ts";
import type { ParityReport } from "../../src/core/model/report.ts";
import { parityValueOf } from "../../src/dialects/parity.ts";
import { expectGolden } from "../support/golden.ts";
import { FIRST_BLOCK, ScriptedFleet } from "../support/scripted-fleet.ts";
import { fleetYaml } from "./statuses/fleets.ts";

interface Watched {
  /** How often the two variants are polled. */
  readonly polls?: "10s" | "1m";
  /** How often a poll carries the value; default: each does. */
  readonly every?: string;
}

/** Two variants and one probe. */
function fleetOf(polls: string, every: string): string {
  const schedule = polls === "1m" ? "0 * * * * *" : "*/10 * * * * *";
  const query = { select: "campaigns(first: 1) { subgraphId }", value: "campaigns.0.subgraphId" };
  const fleet = fleetYaml(["a", "b"], { schedules: { a: schedule, b: schedule } });
  const probe = { name: "rows", protocol: "airdrops", every, queries: { a: query, b: query } };
  return JSON.stringify({ ...JSON.parse(fleet), parity: [probe] });
}

/** `TITLE: POLLS => what is said after them`. */
const FILE = "test/fixtures/parity.expected.txt";
/** A height, counted from the head at the start, and the value there. */
type Said = readonly [height: number, value: unknown];
/** What the two variants say in one poll. A variant that is left out does not answer. */
interface Poll {
  readonly a?: Said | undefined;
  readonly b?: Said | undefined;
  /** Of the variant that answers. */
  readonly deployment?: string | null;
}

describe("whether two variants have the same data", () => {
  it("is reported minute by minute as in test/fixtures/parity.expected.txt", () => {
    const told: string[] = [];
    for (const [, what = "", polls = ""] of readFileSync(FILE, "utf8").matchAll(/^([^:]*): (.*) => /gm)) {
      const watch = startWatch();
      watch.read(pollsOf(polls));
      told.push(`${what}: ${polls} => ${watch.said()}\n`);
    }

    expect(told.length).toBeGreaterThan(20);
    expectGolden(FILE, told.join(""));
  });

  it("waits two minutes for a difference, however many comparisons there are", () => {
    const watch = startWatch({ polls: "10s" });

    const results = watch.results(Array.from({ length: 14 }, (_, height) => both(height, 6, 5)));

    expect(results.indexOf("different")).toBe(12);
  });

  it.each([
    { every: "1m", minutes: 6 },
    { every: "3m", minutes: 10 },
  ])(
    "is unknown in the poll $minutes min after the last comparison where a value is read each $every",
    (row) => {
      const watch = startWatch({ every: row.every });
      watch.read([both(0, 5, 5)]);

      const results = watch.results(
        Array.from({ length: 12 }, (_, at): Poll => ({ a: [at + 1, 5], b: [at + 1, ["no value"]] })),
      );

      expect(results.indexOf("unknown") + 1).toBe(row.minutes);
    },
  );

  it("compares lower heights after ten minutes without a comparison, because the chain has started again", () => {
    const watch = startWatch();
    watch.read([both(9_000, 5, 5), ...Array.from({ length: 10 }, () => ({}))]);

    watch.read([both(100, 7, 7), both(101, 7, 7)]);

    expect(watch.said()).toBe("equal 7=7 at 101");
  });

  it("counts the differences of a variant again 64 readings after it gave two values for one height", () => {
    const watch = startWatch({ polls: "10s" });
    watch.read(pollsOf("0:5|5, 1:5|, 1:6|"));

    const results = watch.results(Array.from({ length: 80 }, (_, at) => both(at + 2, 6, 5)));

    // Three differences take two minutes.
    expect(results.indexOf("different")).toBe(63 + 12);
  });
});

describe("a variant that is behind the other", () => {
  it.each([
    { behind: 4, apart: 1, result: "different" },
    { behind: 5, apart: 1, result: "unknown" },
    { behind: 64, apart: 64, result: "unknown" },
    { behind: 65, apart: 65, result: "different" },
    { behind: 900, apart: 300, result: "different" },
  ])(
    "is $result after three differences, $apart blocks apart, $behind blocks below the other",
    ({ apart, behind, result }) => {
      const watch = startWatch();
      const ahead = behind / apart;

      // The one reads heights to which the other comes later.
      watch.read(
        Array.from({ length: ahead + 3 }, (_, at): Poll => {
          const [own, other] = [at * apart, (at - ahead) * apart];
          return { a: [own, own], ...(other < 0 ? {} : { b: [other, other + 1] }) };
        }),
      );

      expect(watch.pair().result).toBe(result);
    },
  );
});

describe("a value that comes and goes", () => {
  it("is compared at the heights at which both were read", () => {
    const watch = startWatch();
    const flips = Array.from({ length: 20 }, (_, index) => both(index, index % 2, index % 2));

    const results = watch.results([...flips, ...[20, 21, 22].map((at) => both(at, at % 2, (at + 1) % 2))]);

    expect(new Set(results.slice(0, 22))).toEqual(new Set(["equal"]));
    expect(results.at(-1)).toBe("different");
  });

  it.each([
    { readings: 31, compared: false },
    { readings: 32, compared: true },
  ])("is taken for steady if it returns after $readings readings: $compared", ({ readings, compared }) => {
    const watch = startWatch({ polls: "10s" });
    const away = Array.from({ length: readings }, (_, index): Poll => ({ a: [index, "off"] }));
    watch.read([{ a: [-9, "on"] }, ...away, { a: [90, "on"] }, { a: [99, "on"] }, { b: [95, "on"] }]);

    expect(watch.pair().detail).toMatch(
      compared ? /^equal to a/ : /^not known to be equal to a: the value of a comes and goes between polls$/,
    );
  });

  it("is taken for steady again after 64 readings", () => {
    const watch = startWatch({ polls: "10s" });
    watch.read([{ a: [0, "on"] }, { a: [1, "off"] }, { a: [2, "on"] }]);

    const results: string[] = [];
    for (let reading = 1; reading <= 66; reading += 1) {
      results.push(...watch.results([{ a: [10 * reading, "on"] }, { b: [10 * reading - 5, "on"] }]));
    }

    // Of the 64th reading of the one, at the height at which the other was last read.
    expect(results.indexOf("equal")).toBe(2 * 63);
  });

  it("makes no difference at heights between readings before a variant was read twenty times", () => {
    const watch = startWatch();

    const results = watch.results(
      Array.from({ length: 24 }, (_, index): Poll => ({ a: [10 * index, 5], b: [10 * index - 5, 6] })),
    );

    expect(results.indexOf("different")).toBe(19);
  });
});

describe("the remembered values of a variant", () => {
  it.each([
    { changes: 64, result: "equal" },
    { changes: 65, result: "unknown" },
  ])("is its last 64 values: after $changes changes the first is $result", ({ changes, result }) => {
    const watch = startWatch({ polls: "10s" });
    const values = Array.from({ length: changes }, (_, index): Poll => ({ a: [10 * index, `v${index}`] }));

    watch.read([...values, { b: [0, "v0"] }]);

    expect(watch.pair().result).toBe(result);
  });

  it("is the beginning of a long text, and a digest that tells it from another one", () => {
    const watch = startWatch();
    const start = "x".repeat(200);

    const results = watch.results([
      both(0, start, start),
      ...[1, 2, 3].map((height) => both(height, `${start}a`, `${start}b`)),
    ]);

    expect(results).toEqual(["equal", "equal", "equal", "different"]);
    expect(watch.pair().value).toMatch(/^"x{127}… \([0-9a-z]+\)$/);
    expect(watch.pair().difference).toBeNull();
  });

  it("are dropped when another deployment replies, and kept if replies name no deployment", () => {
    const results: string[] = [];
    for (const deployment of ["Qm1", "Qm2", null]) {
      const watch = startWatch();
      watch.read([{ a: [0, 5], deployment: "Qm1" }]);

      watch.read([{ a: [90, 5], deployment }, { b: [50, 5] }]);
      results.push(watch.pair().result);
    }

    expect(results).toEqual(["equal", "unknown", "equal"]);
  });
});

/** Both are at one height. */
function both(height: number, a: unknown, b: unknown): Poll {
  return { a: [height, a], b: [height, b] };
}

/** `90:6|5, 95:6|, -`: both say a value of height 90, then one of the two of height 95, then nobody answers. */
function pollsOf(text: string): readonly Poll[] {
  return text.split(", ").map((poll) => {
    const [, height, a, b] = /^(\d+):(\d*)\|(\d*)$/.exec(poll) ?? [];
    const says = (value = ""): Said | undefined =>
      value === "" ? undefined : [Number(height), Number(value)];
    return { a: says(a), b: says(b) };
  });
}

function startWatch({ polls = "1m", every = polls }: Watched = {}) {
  const play = new ScriptedFleet(fleetOf(polls, every));
  const watch = {
    /** Lets one poll pass for each of these. */
    read(said: readonly Poll[]) {
      for (const poll of said) {
        play.wait(polls);
        for (const variant of ["a", "b"] as const) {
          play.observe(...observed(play.nowMs, variant, poll));
        }
        // As the daemon does each second.
        play.report();
      }
      return watch;
    },
    /** The result after each of these. */
    results: (said: readonly Poll[]) => said.map((poll) => watch.read([poll]).pair().result),
    pair(): ParityReport {
      const [pair] = play.report().parity;
      if (pair === undefined) {
        throw new Error("Cannot find the pair");
      }
      return pair;
    },
    /** `equal 5=5 at 0`: the values of `a` and `b`, and the height. */
    said() {
      const { against_value, block, result, value } = watch.pair();
      return block === null
        ? result
        : `${result} ${against_value}${result === "equal" ? "=" : "≠"}${value} at ${block - FIRST_BLOCK}`;
    },
  };
  return watch;
}

/** What a poll of a variant brings: its height, and the value that came with it. */
function observed(nowMs: number, variant: "a" | "b", poll: Poll): [[Observation], ParityReading[]] {
  const target = `airdrops/${variant}/production/base`;
  const times = { sentAtMs: nowMs, receivedAtMs: nowMs };
  const said = poll[variant];
  if (said === undefined) {
    return [[{ ...times, source: target, kind: "failed", reason: "http_status", detail: "" }], []];
  }
  const [height, campaigns] = said;
  const block = FIRST_BLOCK + height;
  const { deployment = null } = poll;
  const head = { block, timestampSec: null, hash: null, deployment, indexingErrors: null };
  const value = parityValueOf(campaigns);
  const reading = { ...times, probe: "rows", target };
  return [
    [{ ...times, source: target, kind: "head", head }],
    [
      value === null
        ? { ...reading, kind: "failed", detail: "a list" }
        : { ...reading, kind: "value", block, value },
    ],
  ];
}
