import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startScenario } from "../support/scenario.ts";

/** test/fixtures/daemon-stories/parity*.txt tests what Synclag says about the data of variants. */
const FLEET = readFileSync("test/fixtures/daemon-stories/parity.yaml", "utf8").replace(
  /^.*(third:|tier: testing).*\n/gm,
  "",
);

describe("the requests of parity", () => {
  it("have 15 values and 8,000 characters at most, and the next polls ask for the rest", async () => {
    const slugs = Array.from({ length: 20 }, (_, index) => `chain-${index}`);
    const chains = slugs.map((slug, index) => `${slug}: { id: ${1_000 + index}, block_time: 2s }`).join(", ");
    const fleet = FLEET.replace(/^chains: .*$/m, `chains: { ${chains} }`)
      .replace(/^.*variant: third.*\n/m, "")
      .replaceAll("[base, ethereum]", `[${slugs.join(", ")}]`);
    const long = `order_by: {${"subgraphId: desc, ".repeat(50)}}`;
    const sizes: (readonly number[])[] = [];
    for (const order of ["order_by: {subgraphId: desc}", long]) {
      await using play = await startScenario(
        fleet.replace("every: 1m", "every: 10m").replace("order_by: {subgraphId: desc}", order),
      );
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

  it("show no secret, neither in a server's error nor in a value", async () => {
    const secret = "5ecret5ecret5ecret";
    const header = `variant: subgraph, headers: { authorization: "Bearer \${KEY}" },`;
    await using play = await startScenario(FLEET.replace("variant: subgraph,", header), {
      env: { KEY: secret },
    });
    const says = (variant: string, campaigns: string) =>
      play.fleet.target(`airdrops/${variant}/production/base`).set({ says: { campaigns } });
    says("subgraph", `id of ${secret}`);
    says("multichain", "id of [secret]");

    await play.run("1m");

    expect(play.report().parity[0]).toMatchObject({ result: "equal", value: '"id of [secret]"' });
  });
});
