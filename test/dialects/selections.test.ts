import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { Observation } from "../../src/core/model/observation.ts";
import type { ParityReading } from "../../src/core/model/parity.ts";
import { readSelections, refusedSelections } from "../../src/dialects/selections.ts";
import { expectGolden } from "../support/golden.ts";

const BASE = { source: "base", sentAtMs: 1, receivedAtMs: 2 };
const HEAD: Observation = {
  ...BASE,
  kind: "head",
  head: { block: 400, timestampSec: null, hash: null, deployment: null, indexingErrors: null },
};

const SELECTION = {
  probe: "rows",
  everyMs: 60_000,
  target: "base",
  alias: "p0_1",
  select: "",
  expect: { kind: "compared", path: ["campaigns", "0", "id"] },
  maxLatencyMs: null,
  address: null,
} as const;

const Groups = z.array(
  z.strictObject({
    about: z.string(),
    values: z.array(z.string()).default([]),
    answers: z.array(z.string()).default([]),
  }),
);

describe("readSelections()", () => {
  it("reads the value of each selection, or says what was found instead", () => {
    const groups = Groups.parse(parse(readFileSync("test/fixtures/parity-replies.yaml", "utf8")));

    const text = groups.map(({ about, values, answers }) => {
      const all = [
        ...values.map((value) => ({ written: value, body: `{"data":{"p0_1":[{"id":${value}}]}}` })),
        ...answers.map((body) => ({ written: body, body })),
      ];
      return [`# ${about}`, ...all.map(({ written, body }) => `${written} → ${textOf(read(body))}`), ""].join(
        "\n",
      );
    });

    expectGolden("test/fixtures/parity-replies.expected.txt", text.join("\n"));
  });

  it("keeps values of up to 256 characters, and does not compare longer ones", () => {
    const kinds = [254, 255].map((length) => read(`{"data":{"p0_1":[{"id":"${"x".repeat(length)}"}]}}`));

    expect(kinds).toMatchObject([
      { kind: "value" },
      { detail: "Cannot compare data.campaigns.0.id: it has more than 256 characters" },
    ]);
  });

  it("pairs a value with the block and the times of the same reply", () => {
    expect(read('{"data":{"p0_1":[{"id":7}]}}')).toEqual({
      probe: "rows",
      target: "base",
      sentAtMs: 1,
      receivedAtMs: 2,
      kind: "value",
      block: 400,
      value: { text: "7", isNumber: true },
    });
  });

  it("has no reading for a target without a height in the same reply", () => {
    const heightless: readonly (readonly Observation[])[] = [
      [{ ...BASE, kind: "missing" }],
      [{ ...BASE, kind: "failed", reason: "schema", detail: "no height" }],
      [{ ...HEAD, source: "ethereum" }],
      [],
    ];

    const readings = heightless.map((heights) => read('{"data":{"p0_1":[{"id":7}]}}', heights));

    expect(readings).toEqual([undefined, undefined, undefined, undefined]);
  });
});

function read(body: string, heights: readonly Observation[] = [HEAD]): ParityReading | string | undefined {
  const { queries, readings } = readSelections([SELECTION], body, heights, BASE);
  return queries.get("base")?.[0]?.failure ?? readings[0];
}

function textOf(reading: ParityReading | string | undefined): string {
  if (typeof reading === "string") {
    return `not answered: ${reading}`;
  }
  if (reading?.kind === "value") {
    const { text, isNumber } = reading.value;
    return `${isNumber ? "number" : "text"} ${text}`;
  }
  return reading === undefined ? "nothing" : `unreadable: ${reading.detail}`;
}

describe("refusedSelections()", () => {
  it("gives each probe of a target its failure", () => {
    const selections = ["rows", "latest"].map((probe) => ({ ...SELECTION, probe }));

    const { queries } = refusedSelections(selections, "out of memory", BASE);

    expect(queries.get("base")).toMatchObject([
      { probe: "rows", failure: "out of memory" },
      { probe: "latest", failure: "out of memory" },
    ]);
  });
});
