import { describe, expect, it } from "vitest";
import { FAULTS, times } from "../support/faults.ts";
import { startScenario } from "../support/scenario.ts";

const SELECT = {
  multichain: `{ select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }`,
  subgraph:
    "{ select: 'campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }', value: campaigns.0.subgraphId }",
  third: `{ select: 'campaigns(where: {chainId: {chain_id}}, orderBy: "subgraphId", orderDirection: "desc", limit: 1) { items { subgraphId } }', value: campaigns.items.0.subgraphId }`,
} as const;

/** Every chain has an event in each hundredth block: on Base every 200 s, on Ethereum every 20 min. */
const FLEET = `
version: 1
chains: { base: { id: 8453, name: Base, block_time: 2s }, ethereum: { id: 1, name: Ethereum, block_time: 12s } }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/v1/graphql", schedule: "*/15 * * * * *", chains: [base, ethereum] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/subgraphs/name/{chain}", schedule: "*/15 * * * * *", chains: [base, ethereum] }
    - { variant: third, dialect: ponder, url: "https://ponder.example/graphql", schedule: "*/15 * * * * *", chains: [base] }
`;
const PARITY = parityOf("1m", ["multichain", "subgraph", "third"]);
const PAIR = parityOf("1m", ["multichain", "subgraph"]);
const MULTICHAIN = "airdrops/multichain/production/base";
const SUBGRAPH = "airdrops/subgraph/production/base";

// What is said of the data of variants is in test/fixtures/daemon-stories/parity.txt.
describe("the value of a probe", () => {
  it("compares numbers of any length as numbers, other values as text", async () => {
    const long = "9".repeat(128);
    // As many as fit into one request.
    const rows: readonly (readonly [subgraph: unknown, multichain: unknown, said: string])[] = [
      ["12.50", 12.5, "12.5 = 12.5, by 0"],
      ["9007199254740993", "9007199254740992", "9007199254740993 ≠ 9007199254740992, by -1"],
      [
        "12345678901234567890.5",
        "12345678901234567891.75",
        "12345678901234567890.5 ≠ 12345678901234567891.75, by 1.25",
      ],
      ["0.30000000000000000000000001", "0.3", "0.30000000000000000000000001 ≠ 0.3, by -1e-26"],
      ["-0.1", "-0.3", "-0.1 ≠ -0.3, by -0.2"],
      ["-3", 4, "-3 ≠ 4, by 7"],
      [1.5, "1.25", "1.5 ≠ 1.25, by -0.25"],
      ["1e3", 999, '"1e3" ≠ 999, by null'],
      [7, "007", '7 ≠ "007", by null'],
      [16, "0x10", '16 ≠ "0x10", by null'],
      [null, "null", 'null ≠ "null", by null'],
      [true, true, "true = true, by null"],
      ["x", "X", '"x" ≠ "X", by null'],
      [long, long, `${long} = ${long}, by 0`],
      [`-${long}`, 5, `-${long.slice(1)}… (digest) ≠ 5, by null`],
    ];
    const slugs = rows.map((_, index) => `chain-${index}`);
    const chains = slugs.map((slug, index) => `${slug}: { id: ${index + 1}, block_time: 2s }`);
    const fleet = FLEET.replace(/^chains:.*$/m, `chains: { ${chains.join(", ")} }`)
      .replace(/^.*variant: third.*\n/m, "")
      .replaceAll("[base, ethereum]", `[${slugs.join(", ")}]`);
    await using play = await startScenario(fleet + PAIR);
    for (const [index, [subgraph, multichain]] of rows.entries()) {
      const says = (variant: string, campaigns: unknown) =>
        play.fleet.target(`airdrops/${variant}/production/chain-${index}`).set({ says: { campaigns } });
      says("subgraph", subgraph);
      says("multichain", multichain);
    }

    await play.run("4m");

    const said = play.report().parity.map(({ against_value, difference, result, value }) => {
      return `${value?.replace(/\(\w+\)$/, "(digest)")} ${result === "equal" ? "=" : "≠"} ${against_value}, by ${difference}`;
    });
    expect(said).toEqual(rows.map(([, , wanted]) => wanted));
  });
});

describe("the requests of parity", () => {
  it("are the requests for the heights: no more than without parity, and every fourth carries values", async () => {
    const sent: number[] = [];
    const asked: string[][] = [];
    for (const parity of ["", PARITY]) {
      await using play = await startScenario(FLEET + parity);
      await play.run("10m");
      sent.push(play.received.length);
      asked.push(play.received.map(({ query }) => query).filter((query) => query.includes("ampaign")));
    }

    expect(sent[1]).toBe(sent[0]);
    expect(asked[0]).toEqual([]);
    expect(asked[1]).toHaveLength(4 * 10);
    expect(asked[1]).toContain(
      '{ p0_8453: Campaign(where: {chainId: {_eq: "8453"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId } p0_1: Campaign(where: {chainId: {_eq: "1"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId } _meta { chainId progressBlock } }',
    );
  });

  it("hold 15 values and 8,000 characters at most, and the rest follows with the next polls", async () => {
    const slugs = Array.from({ length: 20 }, (_, index) => `chain-${index}`);
    const fleet = `
version: 1
chains: { ${slugs.map((slug, index) => `${slug}: { id: ${1_000 + index}, block_time: 2s }`).join(", ")} }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://multichain.example/v1/graphql", schedule: "*/15 * * * * *", chains: [${slugs.join(", ")}] }
    - { variant: subgraph, dialect: graph, url: "https://subgraph.example/{chain}", schedule: "*/15 * * * * *", chains: [${slugs.join(", ")}] }
`;
    const long = `order_by: {${"subgraphId: desc, ".repeat(50)}}`;
    const sizes: (readonly number[])[] = [];
    for (const order of ["order_by: {subgraphId: desc}", long]) {
      const parity = parityOf("10m", ["multichain", "subgraph"]);
      await using play = await startScenario(fleet + parity.replace("order_by: {subgraphId: desc}", order));
      await play.run("3m");
      sizes.push(
        play.received
          .filter(({ path }) => path === "/v1/graphql")
          .map(({ query }) => query.match(/Campaign/g)?.length ?? 0)
          .filter((values) => values > 0),
      );
    }

    expect(sizes).toEqual([
      [15, 5],
      [8, 8, 4],
    ]);
  });
});

describe("a server that refuses a value", () => {
  const WRONG = PAIR.replace("campaigns(orderBy", "campaign(orderBy").replace("campaigns.0", "campaign.0");

  it("answers the other probe, which is asked for in another poll", async () => {
    await using play = await startScenario(
      FLEET + parityOf("1m", ["multichain", "subgraph"], "good") + WRONG.replace("\nparity:", ""),
    );

    await play.run("5m");

    const asked = play.received
      .filter(({ path }) => path.endsWith("/base"))
      .map(({ query }) => [query.includes("campaigns("), query.includes("campaign(")])
      .map(([good, bad]) => `${good ? "good " : ""}${bad ? "bad" : ""}`)
      .filter((probes) => probes !== "");
    expect(asked).toEqual(["good ", "bad", "good ", "bad", "good ", "good ", "bad", "good "]);
    expect(play.report().parity.map(({ chain, probe, result }) => `${probe} ${chain} ${result}`)).toContain(
      "good base equal",
    );
  });

  it.each([
    { fault: "http_500", asks: ["value", "height", "height"], failed: 1 },
    { fault: "query_timed_out", asks: ["value", "height", "height"], failed: 1 },
    { fault: "hang_before_headers", asks: ["value", "height", "height"], failed: 1 },
    { fault: "data_null", asks: ["value", "height", "height"], failed: 1 },
    { fault: "indexers_indexing_error", asks: ["value", "height", "height"], failed: 1 },
    { fault: "subgraph_not_found", asks: ["value", "height", "height"], failed: 1 },
    // Confirmation polls do not ask for values, which are still due.
    { fault: "http_429_retry_after", asks: ["value", "height", "value"], failed: 0 },
    { fault: "payment_required", asks: ["value", "height", "value"], failed: 0 },
    { fault: "http_429", asks: ["value"], failed: 0 },
  ] as const)(
    "is asked for $asks after $fault, which counts $failed times",
    async ({ asks, failed, fault }) => {
      await using play = await startScenario(
        FLEET.replace("version: 1", "version: 1\npoll: { retries: 0 }") + PAIR,
      );
      await play.run("5s");
      const before = play.received.length;
      play.fleet.endpoint(SUBGRAPH).fail(times(1, FAULTS[fault]));

      await play.run("35s");

      const own = play.received.slice(before).filter(({ path }) => path.endsWith("/base"));
      expect(own.map(({ query }) => (query.includes("campaigns") ? "value" : "height"))).toEqual(asks);
      expect(play.metrics()).toMatch(
        new RegExp(
          `synclag_parity_failures_total\\{[^}]*variant="subgraph"[^}]*chain="base"[^}]*\\} ${failed}\n`,
        ),
      );
    },
  );

  it("shows no secret, neither in its words nor in a value", async () => {
    const secret = "5ecret5ecret5ecret";
    const yaml = FLEET.replace(
      "variant: subgraph,",
      `variant: subgraph, headers: { authorization: "Bearer \${KEY}" },`,
    );
    await using play = await startScenario(yaml + PAIR, { env: { KEY: secret } });
    play.fleet.target(SUBGRAPH).set({ says: { campaigns: `id of ${secret}` } });
    play.fleet.target(MULTICHAIN).set({ says: { campaigns: "id of [secret]" } });

    await play.run("1m");

    expect(play.report().parity[0]).toMatchObject({ result: "equal", value: '"id of [secret]"' });
  });
});

function parityOf(every: string, variants: readonly (keyof typeof SELECT)[], name = "campaigns"): string {
  return `
parity:
  - name: ${name}
    protocol: airdrops
    every: ${every}
    queries:
${variants.map((variant) => `      ${variant}: ${SELECT[variant]}`).join("\n")}
`;
}
