import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, type Reply } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

interface Case {
  readonly status: string;
  readonly reply: Reply;
  readonly detail: string;
  /** Default: with the second poll. */
  readonly after?: string;
}

describe.each<Case>([
  {
    status: "rejected",
    reply: { failed: "unauthorized", detail: "auth error: API key not found" },
    detail: "our key is missing, wrong or unpaid: unauthorized (auth error: API key not found)",
  },
  {
    status: "throttled",
    reply: { failed: "budget", detail: "3,000 of 3,000 requests of today" },
    // Nothing was sent that could have been answered otherwise.
    after: "15s",
    detail: "polled too often, or our budget is spent: budget (3,000 of 3,000 requests of today)",
  },
  {
    status: "not_found",
    reply: { failed: "not_found", detail: "subgraph not found: no allocations" },
    detail: "no such subgraph or deployment: not_found (subgraph not found: no allocations)",
  },
  {
    status: "missing",
    reply: "missing",
    detail: "the answer lacks this chain, though it is expected there",
  },
])("`$status`", ({ after = "30s", detail, reply, status }) => {
  it("says what the provider says and when there was a height last, and ends with the first height", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => reply);

    expect(play.changes("multichain", "12m")).toEqual([`${after} ${status}`]);

    expect(play.target("multichain")).toMatchObject({ up: false, block_number: null, lag_seconds: null });
    expect(play.target("multichain").detail).toBe(`${detail}; last height 12 min ago`);
    expect(play.check("airdrops/base/multichain").exitCode).toBe(2);
    play.script("multichain", behind(0));
    expect(play.changes("multichain", "2m")).toEqual(["15s ok"]);
  });

  it("names no last height where there never was one", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", () => reply);

    expect(play.run("1m").target("multichain").detail).toBe(detail);
  });
});

describe("`unreachable`", () => {
  it("keeps the last height for as long as that is evidence", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    const last = play.head();
    play.script("multichain", () => ({ failed: "no_indexers", detail: "bad indexers" }));

    const early = play.run("3m").target("multichain");
    const late = play.run("3m").target("multichain");

    expect(early).toMatchObject({ status: "unreachable", up: false, block_number: last, lag_blocks: 0 });
    expect(early.detail).toBe("no usable answer: no_indexers (bad indexers); last height 3 min ago");
    expect(late).toMatchObject({ status: "unreachable", block_number: null, lag_blocks: null });
  });

  it("is what the targets of a single host are that has never replied", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"])).script("multichain", () => "connect");

    expect(play.run("2m").statuses()).toEqual(["unreachable"]);
  });

  it("moves the preference to the other variant, and back", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => "connect");
    const preferred = () => play.chain().targets.filter((target) => target.preferred);

    play.run("2m");
    const meanwhile = preferred().map(({ variant }) => variant);
    play.script("multichain", behind(0)).run("2m");

    expect(meanwhile).toEqual(["subgraph"]);
    expect(preferred().map(({ variant }) => variant)).toEqual(["multichain"]);
  });
});
