import { describe, expect, it, vi } from "vitest";
import { configErrorIn } from "../../src/config/yaml/config-error.ts";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { configOf, scrape, startTestApp } from "../support/running-app.ts";

const T = 'protocol="airdrops",variant="multichain",tier="production"';
const ENDPOINT = `${T},endpoint="all"`;
const BASE = `${T},chain="base",chain_id="8453"`;
const ETHEREUM = `${T},chain="ethereum",chain_id="1"`;

/** Two variants of one protocol on two chains: one multi-chain endpoint, two subgraphs. */
async function startIndexers(): Promise<SimulatedFleet> {
  return await startFleet({
    nowMs: Date.now,
    endpoints: [
      { kind: "envio", key: "airdrops/multichain/production/all", chains: ["base", "ethereum"] },
      {
        kind: "studio",
        key: "airdrops/subgraph/production/base",
        chains: ["base"],
        path: "/query/112500/sablier-base/version/latest",
      },
      {
        kind: "studio",
        key: "airdrops/subgraph/production/ethereum",
        chains: ["ethereum"],
        path: "/query/112500/sablier-ethereum/version/latest",
      },
    ],
  });
}

function chainsYaml(fleet: SimulatedFleet, schedule = "*/1 * * * * *"): string {
  const subgraph = fleet
    .endpoint("airdrops/subgraph/production/base")
    .url.replace("sablier-base", "sablier-{chain}");
  return `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  ethereum: { id: 1, name: Ethereum, block_time: 12s }
protocols:
  airdrops:
    - variant: multichain
      dialect: envio
      url: ${fleet.endpoint("airdrops/multichain/production/all").url}
      schedule: "${schedule}"
      chains: [base, ethereum]
    - variant: subgraph
      url: "${subgraph}"
      schedule: "${schedule}"
      chains: [base, ethereum]
`;
}

vi.setConfig({ testTimeout: 20_000 });

describe("startApp()", () => {
  it("serves what the indexers say, and what follows from it", async () => {
    await using fleet = await startIndexers();
    await using app = await startTestApp(configOf(chainsYaml(fleet)));

    await vi.waitFor(async () => expect((await fetch(`${app.url}/-/ready`)).status).toBe(200), 10_000);
    await vi.waitFor(
      async () =>
        expect(
          (await scrape(app)).has(
            `synclag_variant_gap_blocks{protocol="airdrops",variant="subgraph",tier="production",chain="base",chain_id="8453",against="multichain"}`,
          ),
        ).toBe(true),
      10_000,
    );

    const metrics = await scrape(app);
    const height = metrics.get(`synclag_block_number{${ETHEREUM}}`) ?? 0;
    expect(metrics.get(`synclag_up{${BASE}}`)).toBe(1);
    expect(fleet.chain("ethereum").headAt() - height).toBeLessThanOrEqual(1);
    expect(metrics.get(`synclag_lag_blocks{${ETHEREUM}}`)).toBeLessThanOrEqual(1);
    expect(metrics.get(`synclag_status{${BASE},status="ok"}`)).toBe(1);
  });

  it("is not ready before the first round, and healthy all the while", async () => {
    await using fleet = await startIndexers();
    fleet.endpoint("airdrops/multichain/production/all").fail("hang_before_headers");
    await using app = await startTestApp(configOf(chainsYaml(fleet)));

    expect((await fetch(`${app.url}/-/ready`)).status).toBe(503);
    expect((await fetch(`${app.url}/-/healthy`)).status).toBe(200);
    expect((await fetch(`${app.url}/metrics`)).status).toBe(200);
  });

  it("asks a multi-chain endpoint once a round for all its chains", async () => {
    await using fleet = await startIndexers();
    const endpoint = fleet.endpoint("airdrops/multichain/production/all");
    await using app = await startTestApp(configOf(chainsYaml(fleet, "0 0 0 1 1 *")));

    await vi.waitFor(async () => expect((await fetch(`${app.url}/-/ready`)).status).toBe(200), 10_000);

    const sent = (await scrape(app)).get(
      'synclag_polls_total{protocol="airdrops",variant="multichain",tier="production",endpoint="all"}',
    );
    expect(endpoint.requestCount).toBe(1);
    expect(sent).toBe(1);
  });

  it("tells a failing indexer for what it is, and the others are not disturbed", async () => {
    await using fleet = await startIndexers();
    fleet.endpoint("airdrops/subgraph/production/base").fail("unknown_key");
    await using app = await startTestApp(configOf(chainsYaml(fleet)));
    const subgraph = 'protocol="airdrops",variant="subgraph",tier="production",chain="base",chain_id="8453"';

    await vi.waitFor(async () => {
      expect((await scrape(app)).get(`synclag_status{${subgraph},status="rejected"}`)).toBe(1);
    }, 10_000);

    const metrics = await scrape(app);
    expect(metrics.get(`synclag_up{${subgraph}}`)).toBe(0);
    expect(metrics.has(`synclag_block_number{${subgraph}}`)).toBe(false);
    expect(metrics.get(`synclag_up{${BASE}}`)).toBe(1);
  });

  it("counts a height that the chain cannot have, and does not believe it", async () => {
    await using fleet = await startIndexers();
    await using app = await startTestApp(configOf(chainsYaml(fleet)));
    const counter = `synclag_poll_failures_total{${ENDPOINT},reason="implausible"}`;
    await vi.waitFor(
      async () => expect((await scrape(app)).has(`synclag_lag_blocks{${BASE}}`)).toBe(true),
      10_000,
    );

    fleet
      .target("airdrops/multichain/production/base")
      .set({ says: { block: fleet.chain("base").headAt() + 30_000_000 } });

    await vi.waitFor(async () => expect((await scrape(app)).get(counter)).toBeGreaterThan(0), 10_000);
    const reference =
      (await scrape(app)).get('synclag_reference_block_number{chain="base",chain_id="8453"}') ?? 0;
    expect(reference).toBeLessThanOrEqual(fleet.chain("base").headAt());
  });

  it("refuses to start where it cannot listen, and leaves nothing running", async () => {
    await using fleet = await startIndexers();
    const config = configOf(chainsYaml(fleet));
    await using first = await startTestApp(config);
    const port = Number(new URL(first.url).port);

    const second = startTestApp({ ...config, listen: { host: "127.0.0.1", port } });

    await expect(second).rejects.toThrow("EADDRINUSE");
  });
});

describe("a handler that throws", () => {
  it("is answered with 500, logged once with its stack and counted, and the daemon goes on", async () => {
    await using fleet = await startIndexers();
    const { logger, lines } = recordLog();
    const bugs: unknown[] = [];
    let isBroken = true;
    await using app = await startTestApp(configOf(chainsYaml(fleet)), {
      logger,
      onBug: (error) => bugs.push(error),
      // Read by nothing but /metrics.
      lostLogLines: () => {
        if (isBroken) {
          throw new TypeError("no such counter");
        }
        return 0;
      },
    });

    const answers = [await fetch(`${app.url}/metrics`), await fetch(`${app.url}/metrics`)];
    isBroken = false;
    const metrics = await scrape(app);

    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect(await answers[0]?.json()).toMatchObject({ status: 500, detail: "Internal error: see the log" });
    expect(lines.filter(({ level }) => level === 50)).toEqual([
      expect.objectContaining({
        route: "/metrics",
        err: expect.objectContaining({ stack: expect.stringMatching(/no such counter\n +at /) }),
      }),
    ]);
    expect(metrics.get("synclag_http_errors_total")).toBe(2);
    expect(bugs).toEqual([]);
  });
});

describe("App.reload()", () => {
  it("keeps the state of what stays, and drops the series of what goes", async () => {
    await using fleet = await startIndexers();
    const before = configOf(chainsYaml(fleet));
    const withoutEthereum = chainsYaml(fleet)
      .replace(/^ {2}ethereum:.*\n/m, "")
      .replaceAll("chains: [base, ethereum]", "chains: [base]");
    const after = configOf(withoutEthereum);
    await using app = await startTestApp(before, { loadConfig: () => after });
    await vi.waitFor(
      async () => expect((await scrape(app)).has(`synclag_block_number{${BASE}}`)).toBe(true),
      10_000,
    );
    const polled = (await scrape(app)).get(`synclag_last_success_timestamp_seconds{${BASE}}`) ?? 0;

    const response = await fetch(`${app.url}/-/reload`, { method: "POST" });

    const metrics = await scrape(app);
    expect(response.status).toBe(200);
    expect(metrics.get(`synclag_last_success_timestamp_seconds{${BASE}}`)).toBeGreaterThanOrEqual(polled);
    expect([...metrics.keys()].filter((series) => series.includes('chain="ethereum"'))).toEqual([]);
    expect(metrics.get("synclag_config_last_reload_successful")).toBe(1);
  });

  it("changes nothing for a bad file, and says why", async () => {
    await using fleet = await startIndexers();
    const config = configOf(chainsYaml(fleet));
    const problem = { line: 3, column: 1, path: ["chains"], message: "is wrong" };
    await using app = await startTestApp(config, {
      loadConfig: () => {
        throw configErrorIn("chains.yaml", { problems: [problem] });
      },
    });
    await vi.waitFor(async () => expect((await scrape(app)).get(`synclag_up{${BASE}}`)).toBe(1), 10_000);

    const response = await fetch(`${app.url}/-/reload`, { method: "POST" });

    const metrics = await scrape(app);
    expect(response.status).toBe(422);
    expect(await response.text()).toContain("chains.yaml:3:1: chains: is wrong");
    expect(metrics.get(`synclag_up{${BASE}}`)).toBe(1);
    expect(metrics.get("synclag_config_last_reload_successful")).toBe(0);
  });

  it("reads no configuration once the daemon is stopping, nor after it has stopped", async () => {
    await using fleet = await startIndexers();
    const config = configOf(chainsYaml(fleet));
    let reads = 0;
    const app = await startTestApp(config, {
      loadConfig: () => {
        reads += 1;
        return config;
      },
    });

    const stopping = app[Symbol.asyncDispose]();
    const during = await app.reload();
    await stopping;
    const after = await app.reload();

    const refused = { kind: "failed", detail: "Shutting down" };
    expect([during, after]).toEqual([refused, refused]);
    expect(reads).toBe(0);
  });
});
