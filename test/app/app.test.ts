import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.ts";
import { ConfigError } from "../../src/config/problems.ts";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { FAULTS } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { configOf, scrape, startTestApp } from "../support/running-app.ts";
import { json } from "../support/served.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MULTICHAIN = "airdrops/multichain/production/all";
const SUBGRAPH = "airdrops/subgraph/production/base";

// Behaviour over time is tested in test/scenarios: here each endpoint is polled once, at the start.

describe("runApp()", () => {
  it("polls each endpoint once, and serves what follows from it on every route", async () => {
    await using fleet = await startIndexers();
    await using app = await startTestApp(configOf(chainsYaml(fleet)));
    await untilReady(app);

    const metrics = await scrape(app);
    const [page, chain, plan, statuses] = await Promise.all(
      ["/", "/chains/base", "/plan", "/docs/statuses"].map(async (path) =>
        (await fetch(app.url + path)).text(),
      ),
    );
    const { body } = await json(`${app.url}/api/v1/status/airdrops/base`);

    expect([MULTICHAIN, SUBGRAPH].map((key) => fleet.endpoint(key).requestCount)).toEqual([1, 1]);
    expect(metrics.get(`synclag_up{${SERIES},chain="base",chain_id="8453"}`)).toBe(1);
    expect(body).toMatchObject({ targets: [{ status: "ok" }, { status: "ok" }] });
    expect([page, chain, plan, statuses]).toEqual([
      expect.stringContaining("airdrops"),
      expect.stringContaining("curl -sS"),
      expect.stringContaining("2 endpoints, 2 requests a day"),
      expect.stringContaining('<h2 id="chain_halted">'),
    ]);
  });

  it("is healthy but not ready before the first round is done", async () => {
    await using fleet = await startIndexers();
    fleet.endpoint(MULTICHAIN).fail(FAULTS.hang_before_headers);
    await using app = await startTestApp(configOf(chainsYaml(fleet)));

    const answers = await Promise.all(
      ["/-/ready", "/-/healthy", "/metrics"].map(async (path) => (await fetch(app.url + path)).status),
    );

    expect(answers).toEqual([503, 200, 200]);
  });

  it("records usage on disk before a request is sent, leaves one state file, and starts again from it", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const config = configOf(chainsYaml(fleet));
    const before = await startTestApp(config, { stateFile });
    await untilReady(before);
    await vi.waitFor(async () => expect(await historyOf(before)).not.toEqual([]), 10_000);
    const journal = await readFile(`${stateFile}.budgets`, "utf8");
    const known = [statusesOf(before), before.report().budgets.map(({ used }) => used)];
    const [firstSample] = await historyOf(before);

    await before[Symbol.asyncDispose]();
    const left = await readdir(folder.path);
    await using after = await startTestApp(config, { stateFile });

    expect(JSON.parse(journal)).toMatchObject({ version: 1, budgets: { accounts: {} } });
    expect(journal).toMatch(/"buckets":\[\[\d+,1,0\]\]/);
    expect(left.toSorted()).toEqual([
      "synclag.state.json",
      "synclag.state.json.events",
      "synclag.state.json.history",
    ]);
    expect(await readFile(stateFile, "utf8")).not.toContain("http");
    expect((await fetch(`${after.url}/-/ready`)).status).toBe(200);
    expect([statusesOf(after), after.report().budgets.map(({ used }) => used)]).toEqual(known);
    expect((await historyOf(after))[0]).toBe(firstSample);
    expect(fleet.endpoint(SUBGRAPH).requestCount).toBe(1);
  });

  it("does not change the files of a process that took over its state file", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const files = ["", ".budgets", ".events", ".history"].map((end) => `${stateFile}${end}`);
    const app = await startTestApp(configOf(chainsYaml(fleet)), { stateFile, onLockLost: () => undefined });
    await untilReady(app);
    // All that happened so far is written: a write that has begun would still end.
    const events = async () => await readFile(`${stateFile}.events`, "utf8");
    await vi.waitFor(async () => expect(await events()).toContain('"kind":"pair"'), 10_000);
    const other = { pid: 1, startedAtMs: 0, url: "http://10.0.0.1:9855", token: "theirs" };

    await writeFile(`${stateFile}.lock`, JSON.stringify(other));
    await Promise.all(files.map((file) => writeFile(file, "theirs")));
    await app[Symbol.asyncDispose]();

    const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
    expect(texts).toEqual(files.map(() => "theirs"));
  });

  it("monitors without a writable state file, but sends no request that draws on a budget", async () => {
    await using fleet = await startIndexers();
    const { logger, lines } = recordLog();

    await using app = await startTestApp(configOf(chainsYaml(fleet)), {
      stateFile: "/nowhere/synclag.state.json",
      logger,
    });
    await untilReady(app);

    expect(statusesOf(app)).toEqual(["ok", "throttled"]);
    expect(fleet.endpoint(SUBGRAPH).requestCount).toBe(0);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 50,
        msg: "State file unavailable; endpoints with a budget will not be polled",
      }),
    );
  });

  it("answers 500 if a handler throws, logs the stack once, counts the error and keeps running", async () => {
    await using fleet = await startIndexers();
    const { logger, lines } = recordLog();
    await using app = await startTestApp(configOf(chainsYaml(fleet)), {
      logger,
      loadConfig: () => {
        throw new TypeError("no such file");
      },
    });
    const reload = async () => await fetch(`${app.url}/-/reload`, { method: "POST" });

    const answers = [await reload(), await reload()];
    const metrics = await scrape(app);

    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect(await answers[0]?.json()).toMatchObject({ status: 500, detail: "Internal error: see the log" });
    expect(lines.filter(({ level }) => level === 50)).toEqual([
      expect.objectContaining({
        route: "/-/reload",
        err: expect.objectContaining({ stack: expect.stringMatching(/no such file\n +at /) }),
      }),
    ]);
    expect(metrics.get("synclag_http_errors_total")).toBe(2);
  });

  it("reloads on request, says why it rejects a bad file, and does not reload while it stops", async () => {
    await using fleet = await startIndexers();
    const config = configOf(chainsYaml(fleet));
    let isBad = true;
    const app = await startTestApp(config, {
      loadConfig: () => {
        if (isBad) {
          throw new ConfigError("chains.yaml:3:1: chains: is wrong");
        }
        return config;
      },
    });
    const reload = async () => await fetch(`${app.url}/-/reload`, { method: "POST" });

    const refused = await reload();
    isBad = false;
    const used = await reload();
    const stopping = app[Symbol.asyncDispose]();
    await setImmediate();
    const during = await app.reload();
    await stopping;

    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining("chains.yaml:3:1: chains: is wrong"),
    ]);
    expect(used.status).toBe(200);
    expect(during).toEqual({ ok: false, detail: "Shutting down" });
  });
});

const SERIES = 'protocol="airdrops",variant="multichain",tier="production"';

async function startIndexers(): Promise<SimulatedFleet> {
  return await startFleet({
    nowMs: Date.now,
    endpoints: [
      { kind: "envio", key: MULTICHAIN, chains: ["base"] },
      { kind: "studio", key: SUBGRAPH, chains: ["base"], path: "/query/1/sablier-base/version/latest" },
    ],
  });
}

function chainsYaml(fleet: SimulatedFleet): string {
  const indexer = (key: string) =>
    `url: "${fleet.endpoint(key).url}", schedule: "0 0 0 1 1 *", chains: [base]`;
  return `
version: 1
budgets: { studio: { limit: 3000, per: day, scope: endpoint } }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, ${indexer(MULTICHAIN)} }
    - { variant: subgraph, budget: studio, ${indexer(SUBGRAPH)} }
`;
}

async function untilReady(app: App): Promise<void> {
  await vi.waitFor(async () => expect((await fetch(`${app.url}/-/ready`)).status).toBe(200), 10_000);
}

function statusesOf(app: App): readonly string[] {
  return app.report().targets.map(({ status }) => status);
}

async function historyOf({ url }: App): Promise<readonly number[]> {
  const answer = await fetch(`${url}/api/v1/history/airdrops/base`);
  // The reply of the route, checked by its schema.
  const { timestamps } = (await answer.json()) as { readonly timestamps: readonly number[] };
  return timestamps;
}
