import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/core/model/exchange.ts";
import type { Fleet } from "../../../src/core/model/fleet.ts";
import { ExchangeLog } from "../../../src/daemon/polling/exchange-log.ts";
import { sampleEndpoint } from "../../views/sample-report.ts";

const ENDPOINT = sampleEndpoint();

describe("Journal", () => {
  it("knows nothing of an endpoint that was never asked", () => {
    expect(new ExchangeLog().of(ENDPOINT.key)).toEqual({ replies: [], failures: [] });
  });

  it("keeps the newest replies, and the failures of before beside them", () => {
    const journal = new ExchangeLog();

    journal.note(ENDPOINT, exchange(0, "timeout"));
    for (let atMs = 1; atMs <= 10; atMs += 1) {
      journal.note(ENDPOINT, exchange(atMs, "usable"));
    }

    const { replies, failures } = journal.of(ENDPOINT.key);
    expect(replies.map(({ sentAtMs }) => sentAtMs)).toEqual([10, 9, 8]);
    expect(failures.map(({ outcome }) => outcome)).toEqual(["timeout"]);
  });

  it("keeps no more than the newest failures", () => {
    const journal = new ExchangeLog();

    for (let atMs = 1; atMs <= 100; atMs += 1) {
      journal.note(ENDPOINT, exchange(atMs, "dns"));
    }

    expect(journal.of(ENDPOINT.key).failures.map(({ sentAtMs }) => sentAtMs)).toEqual([100, 99, 98, 97, 96]);
  });

  it("forgets an endpoint that is no longer polled, and keeps the others", () => {
    const journal = new ExchangeLog();
    const other = sampleEndpoint({ key: "lockup/subgraph/production/base" });
    journal.note(ENDPOINT, exchange(1, "usable"));
    journal.note(other, exchange(1, "usable"));

    journal.watch(fleetOf([other]));

    expect(journal.of(ENDPOINT.key).replies).toEqual([]);
    expect(journal.of(other.key).replies).toHaveLength(1);
  });
});

function exchange(sentAtMs: number, outcome: Exchange["outcome"]): Exchange {
  return { sentAtMs, receivedAtMs: sentAtMs + 5, asked: "{}", httpStatus: 200, outcome, text: "" };
}

function fleetOf(endpoints: Fleet["indexers"][number]["endpoints"]): Fleet {
  const indexer = { protocol: "lockup", variant: "subgraph", tier: "production", endpoints };
  return { chains: [], indexers: [indexer], rpcEndpoints: [], budgets: [], skipped: [], parity: [] };
}
