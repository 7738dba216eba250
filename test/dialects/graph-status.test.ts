import { buildSchema, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import type { Question, Reading } from "../../src/dialects/dialect.ts";
import { graphStatusQuestions } from "../../src/dialects/graph-status.ts";
import { readFixture } from "./read-fixture.ts";

const BASE = { chainId: 8453, deployment: "QmbTA668GTsFYJSaMvcw51HswCtNHrNwDTdnZdHNqeRDMy" };
const ETHEREUM = { chainId: 1, deployment: "QmTgTXv96wo5WiZih9AmbcLX6ZaXs1eqamLZSAUcj9HXvs" };

function question(): Question {
  const [only] = graphStatusQuestions([BASE, ETHEREUM]);
  if (only === undefined) {
    throw new RangeError("Cannot ask: there is no question");
  }
  return only;
}

function read(file: string): Reading {
  return question().read(JSON.parse(readFixture(`graph-status/${file}`)).data);
}

describe("graphStatusQuestions()", () => {
  it("asks for all deployments of the node in one query that graph-node knows", () => {
    const query = String(question().body["query"]);

    expect(query).toContain(`subgraphs: ["${BASE.deployment}","${ETHEREUM.deployment}"]`);
    expect(validate(buildSchema(readFixture("graph-status/status.graphql")), parse(query))).toEqual([]);
  });

  it("gives each status to the chain of its deployment", () => {
    expect(read("healthy.json")).toEqual({
      kind: "rows",
      rows: [
        {
          chainId: 8453,
          content: {
            kind: "head",
            head: {
              block: 378,
              timestampSec: null,
              hash: "0x07805db26bbd373e09a8da0d17617bd56d75bcfee684e88c550c8778de30c641",
              deployment: BASE.deployment,
              indexingErrors: false,
            },
          },
        },
        { chainId: 1, content: { kind: "not_started" } },
      ],
    });
  });

  it("tells where, in what and why a deployment failed, and keeps its height", () => {
    expect(read("failed.json")).toMatchObject({
      rows: [
        {
          chainId: 8453,
          content: {
            kind: "head",
            head: {
              block: 403,
              indexingErrors: true,
              failure:
                "failed at block 403 in handleBlock: Mapping aborted at src/mapping.ts, line 6: author is 0xdead: fails on purpose (deterministic: needs a new version)",
            },
          },
        },
        { chainId: 1, content: { kind: "failed", reason: "not_found" } },
      ],
    });
  });

  it.each([
    { deterministic: false, ending: "no such store (not deterministic: graph-node tries again)" },
    { deterministic: null, ending: "no such store" },
  ])("says what follows where deterministic is $deterministic", ({ deterministic, ending }) => {
    const fatalError = { message: "no such store", handler: "handleTransfer", deterministic, block: null };
    const chains = [{ latestBlock: { number: "7", hash: "ab" } }];
    const status = { subgraph: BASE.deployment, health: "failed", fatalError, chains };

    expect(question().read({ indexingStatuses: [status] })).toMatchObject({
      rows: [{ content: { head: { failure: `failed in handleTransfer: ${ending}` } } }, {}],
    });
  });

  it("fails what failed before its first block", () => {
    const fatalError = { message: "bad manifest", handler: null, deterministic: true, block: null };
    const status = {
      subgraph: BASE.deployment,
      health: "failed",
      fatalError,
      chains: [{ latestBlock: null }],
    };

    expect(question().read({ indexingStatuses: [status] })).toMatchObject({
      rows: [{ content: { kind: "failed", reason: "indexing_error" } }, {}],
    });
  });

  it("says which deployment a node does not index", () => {
    const detail = `This graph-node does not index ${BASE.deployment}`;

    expect(read("unknown-id.json")).toMatchObject({
      rows: [{ chainId: 8453, content: { kind: "failed", reason: "not_found", detail } }, { chainId: 1 }],
    });
  });

  it("fails a broken status, and says where other data differs", () => {
    expect(read("broken.json")).toMatchObject({
      rows: [
        { chainId: 8453, content: { detail: 'Cannot read latestBlock.number as a height: "soon"' } },
        { chainId: 1, content: { reason: "not_found" } },
        { chainId: null, content: { detail: "Cannot read an indexing status: an object" } },
      ],
    });
    expect(question().read({ indexingStatuses: null })).toMatchObject({ kind: "failed", reason: "schema" });
  });
});
