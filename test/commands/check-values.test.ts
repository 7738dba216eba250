import { beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/core/model/report.ts";
import { STATUS_METRICS } from "../../src/metrics/families.ts";
import { FAULTS } from "../support/faults.ts";
import { serve } from "../support/listener.ts";
import { startScenario } from "../support/scenario.ts";
import { runCommand } from "./run-command.ts";

const VARIANTS = ["first", "behind", "frozen", "fails", "unstarted", "rejects", "absent"];
const FLEET = `
version: 1
poll: { retries: 0 }
chains: { base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://node.example"] } }
protocols:
  airdrops:
${VARIANTS.map((name) => `    - { variant: ${name}, dialect: graph, url: "https://${name}.example/subgraphs", schedule: "*/15 * * * * *", chains: [base] }`).join("\n")}
maintenance: [{ match: { variant: frozen }, from: 2026-11-20T00:00:00Z, to: 2026-11-21T00:00:00Z }]
`;

describe("a fleet with targets in different statuses", () => {
  let served: Report;
  let metrics: ReadonlyMap<string, string>;

  beforeAll(async () => {
    await using play = await startScenario(FLEET);
    const target = (variant: string) => play.fleet.target(`airdrops/${variant}/production/base`);
    target("unstarted").set({ started: false });
    await play.run("2m");
    target("behind").set({ lagBlocks: 431 });
    target("frozen").set({ freezeAtMs: Date.now() });
    target("fails").set({ indexingErrors: true });
    play.fleet.endpoint("airdrops/rejects/production/all").fail(FAULTS.unknown_key);
    play.setHost("absent.example", "down");
    await play.run("15m");
    // As it is read from the reply of the API.
    served = JSON.parse(JSON.stringify(play.report())) as Report;
    metrics = seriesOf(play.metrics());
  });

  it("has the same JSON in `check --format json` as in the API", async () => {
    expect(JSON.parse(await checked(served, "json"))).toEqual(served);
  });

  it("has the same series and values in `check --format prometheus` as in /metrics", async () => {
    const names = new Set(STATUS_METRICS.map(({ name }) => name));
    const both = [...metrics].filter(([series]) => names.has(series.replace(/\{.*/, "")));

    const printed = seriesOf(await checked(served, "prometheus"));

    expect(Object.fromEntries(printed)).toEqual(Object.fromEntries(both));
    expect(printed.size).toBeGreaterThan(100);
  });
});

async function checked(status: Report, format: string): Promise<string> {
  await using daemon = await serve((_request, response) => response.end(JSON.stringify(status)));
  const nowMs = () => Date.parse(status.generated_at);
  return (await runCommand(["check", "--url", daemon.url, "--format", format], {}, () => ({ nowMs }))).out;
}

function seriesOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]),
  );
}
