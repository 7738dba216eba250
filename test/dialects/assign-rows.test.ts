import { describe, expect, it } from "vitest";
import { assignRows } from "../../src/dialects/assign-rows.ts";
import type { Row, RowContent } from "../../src/dialects/dialect.ts";

const ETHEREUM = { source: "airdrops/multichain/production/ethereum", chainId: 1 };
const OPTIMISM = { source: "airdrops/multichain/production/optimism", chainId: 10 };
const BASE = { source: "airdrops/multichain/production/base", chainId: 8453 };
const NODE = { source: "rpc/ethereum/1", chainId: null };

function head(block: number) {
  return {
    kind: "head",
    head: { block, timestampSec: null, hash: null, deployment: null, indexingErrors: null },
  } as const;
}

function row(chainId: number | null, content: RowContent): Row {
  return { chainId, content };
}

const NOT_STARTED = { kind: "not_started" } as const;
const BAD = { kind: "failed", reason: "schema", detail: "Cannot read a row of _meta: 5" } as const;

describe("assignRows()", () => {
  it("gives each row to the target whose chain it names, in the order of the targets", () => {
    const rows = [row(8453, head(3)), row(10, NOT_STARTED), row(1, head(1))];

    expect(assignRows([ETHEREUM, OPTIMISM, BASE], rows)).toEqual([
      { source: ETHEREUM.source, ...head(1) },
      { source: OPTIMISM.source, ...NOT_STARTED },
      { source: BASE.source, ...head(3) },
    ]);
  });

  it("tells an expected chain that the answer lacks", () => {
    expect(assignRows([ETHEREUM, OPTIMISM], [row(1, head(1))])).toEqual([
      { source: ETHEREUM.source, ...head(1) },
      { source: OPTIMISM.source, kind: "missing" },
    ]);
  });

  it("misses every chain in an empty answer", () => {
    const outcomes = assignRows([ETHEREUM, OPTIMISM], []);

    expect(outcomes.map(({ kind }) => kind)).toEqual(["missing", "missing"]);
  });

  it("drops 10,000 rows of chains that nobody expects", () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => row(100_000 + index, head(5)));

    expect(assignRows([ETHEREUM], [...rows, row(1, head(7))])).toEqual([
      { source: ETHEREUM.source, ...head(7) },
    ]);
  });

  it.each([{ subject: ETHEREUM }, { subject: NODE }])(
    "gives a row without a chain to $subject.source alone",
    ({ subject }) => {
      expect(assignRows([subject], [row(null, head(7))])).toEqual([{ source: subject.source, ...head(7) }]);
    },
  );

  it("gives a row without a chain to nobody where several could be meant, and says why", () => {
    const detail =
      "Cannot tell which chain the answer is for: found block number 7 without a chain id and 3 configured chains; a plain answer needs a URL with {chain} or {chain_id}, or a single configured chain";

    const outcomes = assignRows([ETHEREUM, OPTIMISM, BASE], [row(null, head(7))]);

    expect(outcomes).toEqual(
      [ETHEREUM, OPTIMISM, BASE].map(({ source }) => ({ source, kind: "failed", reason: "schema", detail })),
    );
  });

  it("gives a row without a chain to nobody beside rows that name theirs", () => {
    const outcomes = assignRows([ETHEREUM], [row(null, head(7)), row(10, head(8))]);

    expect(outcomes).toMatchObject([{ kind: "failed", reason: "schema" }]);
  });

  it("takes it that all chains have not started where none is named", () => {
    const outcomes = assignRows([ETHEREUM, OPTIMISM], [row(null, NOT_STARTED)]);

    expect(outcomes.map(({ kind }) => kind)).toEqual(["not_started", "not_started"]);
  });

  it("fails the chain that is absent when a row can't be read, and keeps the others", () => {
    const outcomes = assignRows([ETHEREUM, OPTIMISM], [row(1, head(1)), row(null, BAD)]);

    expect(outcomes).toMatchObject([{ kind: "head" }, { kind: "failed", reason: "schema" }]);
  });

  it("finds it implausible that a single chain's endpoint speaks of another one alone", () => {
    expect(assignRows([ETHEREUM], [row(10, head(7))])).toEqual([
      {
        source: ETHEREUM.source,
        kind: "failed",
        reason: "implausible",
        detail: "Cannot use the answer for chain 1: it has chain 10 only",
      },
    ]);
  });

  it("misses a single chain among several others", () => {
    expect(assignRows([ETHEREUM], [row(10, head(7)), row(8453, head(8))])).toEqual([
      { source: ETHEREUM.source, kind: "missing" },
    ]);
  });

  it("counts rows that repeat each other once", () => {
    expect(assignRows([ETHEREUM], [row(1, head(7)), row(1, head(7))])).toEqual([
      { source: ETHEREUM.source, ...head(7) },
    ]);
  });

  it.each([
    { rows: [head(7), head(8)], detail: "block 7 at time null and block 8 at time null" },
    { rows: [head(7), NOT_STARTED], detail: "block 7 at time null and not started" },
    { rows: [head(7), BAD], detail: "block 7 at time null and Cannot read a row of _meta: 5" },
    { rows: [head(7), head(8), head(9)], detail: "block 7 at time null and block 8 at time null" },
  ])("believes none of rows that disagree: $detail", ({ rows, detail }) => {
    const outcomes = assignRows(
      [ETHEREUM, OPTIMISM],
      [...rows.map((content) => row(1, content)), row(10, head(3))],
    );

    expect(outcomes).toEqual([
      {
        source: ETHEREUM.source,
        kind: "failed",
        reason: "schema",
        detail: `Cannot use contradictory rows of one chain: ${detail}`,
      },
      { source: OPTIMISM.source, ...head(3) },
    ]);
  });
});
