import { describe, expect, it } from "vitest";
import type { Answer, Fault } from "../../src/sim/servers/answer.ts";
import { FAULTS } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const NODE = "https://node.example/base";
const KEY = "rpc/base/node.example/dd456f637b9f";
const OTHER_NODE = "https://node.example/ethereum";
const REJECTED = {
  host: "node.example",
  block_number: null,
  stands: "rejected",
  detail: "the node is of chain 1; chains.yaml says 8453",
};

/** A fast and a slow indexer without block times, beside a node. */
const FLEET = fleet(NODE);

function fleet(node: string, id = 8453): string {
  return `
version: 1
poll: { rpc_schedule: "*/30 * * * * *" }
chains:
  base: { id: ${id}, block_time: 2s, rpc: ["${node}"] }
  ethereum: { id: 1, block_time: 12s, rpc: ["${OTHER_NODE}"] }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/", schedule: "*/15 * * * * *", chains: [base, ethereum] }
    - { variant: squid, dialect: squid, url: "https://squid.example/{chain}", schedule: "0 */10 * * * *", chains: [base] }
`;
}

describe("an RPC node of another chain", () => {
  it("has no vote, accuses no source, and is explained in the JSON, on the page and in the metrics", async () => {
    await using play = await startScenario(FLEET);
    play.lead(NODE, OTHER_NODE);
    await play.restart({ state: "lost" });

    await play.run("910s");

    expect(play.target("multichain/production/base")).toMatchObject({ status: "ok" });
    expect(play.target("squid")).toMatchObject({ status: "ok" });
    expect(nodeOf(play)).toMatchObject(REJECTED);
    expect(play.page("base")).toMatch(
      /RPC node .* not of this chain – the node is of chain 1; chains.yaml says 8453/,
    );
    expect(
      play.metric(
        'synclag_poll_failures_total{protocol="",variant="rpc",tier="",endpoint="base",reason="wrong_chain"}',
      ),
    ).toBe(31);
    expect(mismatchOf(play, KEY)).toBe(1);
    expect(play.log.filter(({ msg }) => msg === "RPC node of another chain")).toMatchObject([
      { level: 40, endpoint: KEY, detail: REJECTED.detail },
    ]);
  });

  it("gets its vote back with the first poll after it is repaired", async () => {
    await using play = await startScenario(FLEET);
    play.lead(NODE, OTHER_NODE);
    await play.restart({ state: "lost" });
    await play.run("310s");
    const before = nodeOf(play);
    const mismatch = mismatchOf(play, KEY);

    play.lead(NODE, null);
    await play.run("30s");

    expect(before).toMatchObject(REJECTED);
    expect(nodeOf(play)).toMatchObject({ stands: "agrees", detail: null });
    expect([mismatch, mismatchOf(play, KEY)]).toEqual([1, 0]);
  });

  it("gets its vote back by a reload to the right URL", async () => {
    await using play = await startScenario(fleet(OTHER_NODE), { simulated: FLEET });
    await play.run("5m");
    const before = nodeOf(play);

    await play.reload(FLEET);
    await play.run("5s");

    expect(before).toMatchObject(REJECTED);
    expect(nodeOf(play)).toMatchObject({ stands: "agrees", detail: null });
  });
});

describe("the chain of an RPC node", () => {
  it("is asked for once, with its first block, and again after a reload and a restart", async () => {
    await using play = await startScenario(FLEET);

    await play.run("100s");
    await play.reload(FLEET.replace("12s", "13s"));
    await play.run("100s");
    await play.restart({ state: "kept" });
    await play.run("100s");

    expect(askedForChainAt(play)).toEqual([0, 120, 210]);
  });

  it("is asked for alone until the reply comes", async () => {
    await using play = await startScenario(FLEET, {
      adjust: (config) => ({ ...config, poll: { ...config.poll, retries: 0 } }),
      prepare: (fleet) => fleet.endpoint(KEY).fail(FAULTS.http_500),
    });
    await play.run("40s");
    play.fleet.endpoint(KEY).fail(ofChainId(FAULTS.reset_before_headers));
    await play.run("40s");
    const without = nodeOf(play);
    const mismatch = mismatchOf(play, KEY);
    const requests = play.received.filter(({ endpoint }) => endpoint === KEY).length;

    play.fleet.endpoint(KEY).heal();
    await play.run("2m");

    expect(without).toBeUndefined();
    expect(mismatch).toBeUndefined();
    expect(requests).toBe(3);
    expect(nodeOf(play)).toMatchObject({ stands: "agrees" });
    expect(askedForChainAt(play)).toEqual([0, 30, 60, 90]);
  });

  it.each([
    {
      fault: "does not know the question",
      reply: { body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}' },
    },
    { fault: "refuses the question", reply: { status: 403, body: "method not allowed" } },
    { fault: "replies with something else", reply: { body: '{"jsonrpc":"2.0","id":1,"result":true}' } },
  ])("is believed where the node $fault", async ({ reply }) => {
    await using play = await startScenario(FLEET, {
      prepare: (fleet) => fleet.endpoint(KEY).fail(ofChainId(reply)),
    });

    await play.run("5m");

    expect(nodeOf(play)).toMatchObject({ stands: "agrees" });
    expect(askedForChainAt(play)).toEqual([0]);
  });
});

/** Where the node of Base stands, in the JSON. */
function nodeOf(play: Scenario) {
  const base = play.status().chains.find(({ slug }) => slug === "base");
  return base?.standings.find(({ source }) => source.startsWith("rpc/"));
}

/** The metric of the node of Base with this key. */
function mismatchOf(play: Scenario, endpoint: string): number | undefined {
  return play.metric(`synclag_rpc_chain_mismatch{chain="base",endpoint="${endpoint}"}`);
}

/** The seconds at which the node of Base was asked for its chain. */
function askedForChainAt(play: Scenario): readonly number[] {
  return play.received
    .filter(({ endpoint, body }) => endpoint === KEY && body.includes("eth_chainId"))
    .map(({ atMs }) => Math.floor(atMs / 1_000));
}

/** A fault of replies that have no block. */
function ofChainId(fault: Partial<Answer>): Fault {
  return ({ body }) => (body.includes('"number"') ? null : fault);
}
