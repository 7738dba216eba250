import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ParityReport } from "../../src/core/model/report.ts";
import { FAULTS, times } from "../support/faults.ts";
import { expectGolden } from "../support/golden.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

interface Watched {
  /** How often the two variants are polled. */
  readonly polls?: "10s" | "1m";
  /** How often a poll carries the value; default: each does. */
  readonly every?: string;
}

/** Two variants and one probe. */
function fleetOf({ polls = "1m", every = polls }: Watched): string {
  const schedule = polls === "1m" ? "0 * * * * *" : "*/10 * * * * *";
  const variant = (name: string) =>
    `{ variant: ${name}, dialect: graph, url: "https://${name}.example/subgraphs/name/x", schedule: "${schedule}", chains: [base] }`;
  const query = "{ select: 'campaigns(first: 1) { subgraphId }', value: campaigns.0.subgraphId }";
  return `
version: 1
poll: { retries: 0 }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols: { airdrops: [${variant("a")}, ${variant("b")}] }
parity: [{ name: rows, protocol: airdrops, every: ${every}, queries: { a: ${query}, b: ${query} } }]
`;
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
  it("is reported minute by minute as in test/fixtures/parity.expected.txt", async () => {
    const told: string[] = [];
    for (const [, what = "", polls = ""] of readFileSync(FILE, "utf8").matchAll(/^([^:]*): (.*) => /gm)) {
      await using watch = await startWatch();
      await watch.read(pollsOf(polls));
      told.push(`${what}: ${polls} => ${watch.said()}\n`);
    }

    expect(told.length).toBeGreaterThan(20);
    expectGolden(FILE, told.join(""));
  });

  it("stays equal while both values are unchanged", async () => {
    await using watch = await startWatch();

    const results = await watch.results(Array.from({ length: 12 }, () => both(0, 5, 5)));

    expect(new Set(results)).toEqual(new Set(["equal"]));
  });

  it("waits two minutes for a difference, however many comparisons there are", async () => {
    await using watch = await startWatch({ polls: "10s" });

    const results = await watch.results(Array.from({ length: 14 }, (_, height) => both(height, 6, 5)));

    expect(results.indexOf("different")).toBe(12);
  });

  it.each([
    { every: "1m", minutes: 5 },
    { every: "3m", minutes: 9 },
  ])("is unknown $minutes min after the last comparison where a value is read each $every", async (row) => {
    await using watch = await startWatch({ every: row.every });
    await watch.read([both(0, 5, 5)]);

    const results = await watch.results(
      Array.from({ length: 12 }, (_, at): Poll => ({ a: [at + 1, 5], b: [at + 1, ["no value"]] })),
    );

    expect(results.indexOf("unknown") + 1).toBe(row.minutes);
  });

  it("compares lower heights after ten minutes without a comparison, because the chain has started again", async () => {
    await using watch = await startWatch();
    await watch.read([both(9_000, 5, 5), ...Array.from({ length: 10 }, () => ({}))]);

    await watch.read([both(100, 7, 7), both(101, 7, 7)]);

    expect(watch.said()).toBe("equal 7=7 at 101");
  });

  it("counts the differences of a variant again 64 readings after it gave two values for one height", async () => {
    await using watch = await startWatch({ polls: "10s" });
    await watch.read(pollsOf("0:5|5, 1:5|, 1:6|"));

    const results = await watch.results(Array.from({ length: 80 }, (_, at) => both(at + 2, 6, 5)));

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
    async ({ apart, behind, result }) => {
      await using watch = await startWatch();
      const ahead = behind / apart;

      // The one reads heights to which the other comes later.
      await watch.read(
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
  /** `a` and `b` follow one function of the height, but are read at different heights. */
  function minuteOf(index: number, valueAt: (height: number) => unknown): Poll {
    const height = 10 * index;
    return { a: [height, valueAt(height)], b: [height + 4, valueAt(height + 4)] };
  }

  it("is never different if both follow one function of the height", async () => {
    await using watch = await startWatch({ polls: "10s" });
    const valueAt = (height: number) => ["on", "off", null][(height * 7_919 + (height >> 3)) % 3];

    const results = await watch.results(Array.from({ length: 60 }, (_, index) => minuteOf(index, valueAt)));

    expect(results).not.toContain("different");
  });

  it("is compared at the heights at which both were read", async () => {
    await using watch = await startWatch();
    const flips = Array.from({ length: 20 }, (_, index) => both(index, index % 2, index % 2));

    const results = await watch.results([
      ...flips,
      ...[20, 21, 22].map((at) => both(at, at % 2, (at + 1) % 2)),
    ]);

    expect(new Set(results.slice(0, 22))).toEqual(new Set(["equal"]));
    expect(results.at(-1)).toBe("different");
  });

  it.each([
    { readings: 31, compared: false },
    { readings: 32, compared: true },
  ])(
    "is taken for steady if it returns after $readings readings: $compared",
    async ({ readings, compared }) => {
      await using watch = await startWatch({ polls: "10s" });
      const away = Array.from({ length: readings }, (_, index): Poll => ({ a: [index, "off"] }));
      await watch.read([{ a: [-9, "on"] }, ...away, { a: [90, "on"] }, { a: [99, "on"] }, { b: [95, "on"] }]);

      expect(watch.pair().detail).toMatch(
        compared
          ? /^equal to a/
          : /^not known to be equal to a: the value of a comes and goes between polls$/,
      );
    },
  );

  it("is taken for steady again after 64 readings", async () => {
    await using watch = await startWatch({ polls: "10s" });
    await watch.read([{ a: [0, "on"] }, { a: [1, "off"] }, { a: [2, "on"] }]);

    const results: string[] = [];
    for (let reading = 1; reading <= 66; reading += 1) {
      results.push(...(await watch.results([{ a: [10 * reading, "on"] }, { b: [10 * reading - 5, "on"] }])));
    }

    // Of the 64th reading of the one, at the height at which the other was last read.
    expect(results.indexOf("equal")).toBe(2 * 63);
  });

  it("makes no difference at heights between readings before a variant was read twenty times", async () => {
    await using watch = await startWatch();

    const results = await watch.results(
      Array.from({ length: 24 }, (_, index): Poll => ({ a: [10 * index, 5], b: [10 * index - 5, 6] })),
    );

    expect(results.indexOf("different")).toBe(19);
  });
});

describe("the remembered values of a variant", () => {
  it.each([
    { changes: 64, result: "equal" },
    { changes: 65, result: "unknown" },
  ])("is its last 64 values: after $changes changes the first is $result", async ({ changes, result }) => {
    await using watch = await startWatch({ polls: "10s" });
    const values = Array.from({ length: changes }, (_, index): Poll => ({ a: [10 * index, `v${index}`] }));

    await watch.read([...values, { b: [0, "v0"] }]);

    expect(watch.pair().result).toBe(result);
  });

  it("is the beginning of a long text, and a digest that tells it from another one", async () => {
    await using watch = await startWatch();
    const start = "x".repeat(200);

    const results = await watch.results([
      both(0, start, start),
      ...[1, 2, 3].map((height) => both(height, `${start}a`, `${start}b`)),
    ]);

    expect(results).toEqual(["equal", "equal", "equal", "different"]);
    expect(watch.pair().value).toMatch(/^"x{127}… \([0-9a-z]+\)$/);
    expect(watch.pair().difference).toBeNull();
  });

  it("are dropped when another deployment replies, and kept if replies name no deployment", async () => {
    const results: string[] = [];
    for (const deployment of ["Qm1", "Qm2", null]) {
      await using watch = await startWatch();
      watch.play.fleet.target(A).set({ deployment: "Qm1" });
      await watch.read([{ a: [0, 5] }]);

      await watch.read([{ a: [90, 5], deployment }, { b: [50, 5] }]);
      results.push(watch.pair().result);
    }

    expect(results).toEqual(["equal", "unknown", "equal"]);
  });
});

const A = "airdrops/a/production/base";
const VARIANTS = ["a", "b"] as const;

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

async function startWatch(watched: Watched = {}) {
  const { polls = "1m" } = watched;
  const play = await startScenario(fleetOf(watched));
  const head = play.fleet.chain("base").headAt();
  for (const endpoint of play.fleet.endpoints("*/*/*/*")) {
    endpoint.set({ latency: { minMs: 0, maxMs: 0 } });
  }
  // The first poll of an endpoint carries no value.
  await play.run("5s");
  const watch = {
    play,
    /** Lets one poll pass for each of these. */
    async read(said: readonly Poll[]) {
      for (const poll of said) {
        say(play, head, poll);
        await play.run(polls);
      }
    },
    /** The result after each of these. */
    async results(said: readonly Poll[]) {
      const results: string[] = [];
      for (const poll of said) {
        await watch.read([poll]);
        results.push(watch.pair().result);
      }
      return results;
    },
    pair(): ParityReport {
      const [pair] = play.status().parity;
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
        : `${result} ${against_value}${result === "equal" ? "=" : "≠"}${value} at ${block - head}`;
    },
    [Symbol.asyncDispose]: () => play[Symbol.asyncDispose](),
  };
  return watch;
}

function say(play: Scenario, head: number, poll: Poll): void {
  for (const variant of VARIANTS) {
    const endpoint = play.fleet.endpoint(`airdrops/${variant}/production/all`);
    const [target] = endpoint.targets;
    const said = poll[variant];
    if (said === undefined) {
      endpoint.fail(FAULTS.http_500);
    } else {
      const [height, campaigns] = said;
      endpoint.fail(times(0, FAULTS.http_500));
      const deployment = poll.deployment === undefined ? {} : { deployment: poll.deployment };
      target?.set({
        says: {
          block: head + height,
          timestampSec: null,
          hash: null,
          campaigns: typeof campaigns === "number" ? String(campaigns) : campaigns,
          ...deployment,
        },
      });
    }
  }
}
