import { beforeAll, describe, expect, it } from "vitest";
import type { Report, TargetReport } from "../../src/core/model/report.ts";
import { formatDuration, formatNumber } from "../../src/core/model/text.ts";
import { STATUS_METRICS } from "../../src/metrics/families.ts";
import { FAULTS } from "../support/faults.ts";
import { serve } from "../support/listener.ts";
import { startScenario } from "../support/scenario.ts";
import { runCommand } from "./run-command.ts";

const VARIANTS = [
  "first",
  "second",
  "behind",
  "frozen",
  "fails",
  "unstarted",
  "rejects",
  "limits",
  "absent",
  "broken",
];
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
    const endpoint = (variant: string) => play.fleet.endpoint(`airdrops/${variant}/production/all`);
    target("unstarted").set({ started: false });
    await play.run("2m");
    target("behind").set({ lagBlocks: 431 });
    target("frozen").set({ freezeAtMs: Date.now() });
    target("fails").set({ indexingErrors: true });
    endpoint("rejects").fail(FAULTS.unknown_key);
    endpoint("limits").fail(FAULTS.http_429);
    play.setHost("absent.example", "down");
    endpoint("broken").fail(FAULTS.http_503);
    await play.run("15m");
    // As it is read from the answer of the API.
    served = JSON.parse(JSON.stringify(play.status())) as Report;
    metrics = seriesOf(play.metrics());
  });

  it("is up if the last poll returned a height, for every status", () => {
    expect(served.targets.map(({ variant, status, up }) => `${variant} ${status} ${up}`)).toEqual([
      "first ok true",
      "second ok true",
      "behind lagging true",
      "frozen stalled true",
      "fails failed true",
      "unstarted syncing false",
      "rejects rejected false",
      "limits throttled false",
      "absent unreachable false",
      "broken unreachable false",
    ]);
  });

  it("is the same in `check --format json` as in the API", async () => {
    expect(JSON.parse(await checked(served, "json"))).toEqual(served);
  });

  it("has the same series and values in `check --format prometheus` as in /metrics", async () => {
    const names = new Set(STATUS_METRICS.map(({ name }) => name));
    const both = [...metrics].filter(([series]) => names.has(series.replace(/\{.*/, "")));

    const printed = seriesOf(await checked(served, "prometheus"));

    expect(Object.fromEntries(printed)).toEqual(Object.fromEntries(both));
    expect(printed.size).toBeGreaterThan(100);
  });

  it("has the same values in the API as in /metrics", () => {
    const inApi = served.targets.map((target) => [
      target.variant,
      Number(target.up),
      target.block_number,
      unixSeconds(target.block_timestamp),
      unixSeconds(target.last_success),
      unixSeconds(target.last_advance),
      target.lag_blocks,
      target.lag_seconds,
      Number(target.maintenance),
      1,
    ]);

    const inMetrics = served.targets.map((target) => {
      const labels = labelsOf(target);
      const value = (name: string) => numberOf(metrics.get(`synclag_${name}{${labels}}`));
      return [
        target.variant,
        value("up"),
        value("block_number"),
        value("block_timestamp_seconds"),
        value("last_success_timestamp_seconds"),
        value("last_advance_timestamp_seconds"),
        value("lag_blocks"),
        value("lag_seconds"),
        value("maintenance"),
        numberOf(metrics.get(`synclag_status{${labels},status="${target.status}",testnet="false"}`)),
      ];
    });
    expect(inMetrics).toEqual(inApi);
  });

  it("says in the table what the API says", async () => {
    const rows = (await checked(served, "table")).split("\n").map((line) => line.split(/ {2,}/));

    for (const { variant, status, lag_seconds, block_number } of served.targets) {
      if (status !== "ok") {
        expect(rows).toContainEqual([
          status,
          `airdrops/base/${variant}`,
          lag_seconds === null ? "-" : formatDuration(lag_seconds * 1_000),
          expect.anything(),
          block_number === null ? "-" : formatNumber(block_number),
          expect.anything(),
        ]);
      }
    }
  });
});

async function checked(status: Report, format: string): Promise<string> {
  await using daemon = await serve((_request, response) => response.end(JSON.stringify(status)));
  return (await runCommand(["check", "--url", daemon.url, "--format", format])).out;
}

function seriesOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]),
  );
}

function labelsOf({ protocol, variant, tier, chain, chain_id }: TargetReport): string {
  return `protocol="${protocol}",variant="${variant}",tier="${tier}",chain="${chain}",chain_id="${chain_id}"`;
}

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function unixSeconds(isoTime: string | null): number | null {
  return isoTime === null ? null : Date.parse(isoTime) / 1_000;
}
