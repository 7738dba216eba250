import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.ts";
import type { TargetReport } from "../../src/core/model/report.ts";
import { StateLockedError } from "../../src/io/state/lock.ts";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { configOf, startTestApp } from "../support/running-app.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MULTICHAIN = "airdrops/multichain/production/all";
const SUBGRAPH = "airdrops/subgraph/production/base";
/** Once a year: after the first round nobody is asked by the schedule. */
const YEARLY = "0 0 0 1 1 *";

vi.setConfig({ testTimeout: 30_000 });

describe("a restart", () => {
  it("changes no status, asks nobody anew, and is ready at once", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    fleet.endpoint(SUBGRAPH).fail("unknown_key");
    const config = configOf(chainsYaml(fleet));
    const before = await startTestApp(config, { stateFile });
    await untilReady(before);
    const known = knownOf(before);
    await before[Symbol.asyncDispose]();
    const asked = [MULTICHAIN, SUBGRAPH].map((key) => fleet.endpoint(key).requestCount);

    await using after = await startTestApp(config, { stateFile });
    const ready = await fetch(`${after.url}/-/ready`);

    expect(ready.status).toBe(200);
    expect(knownOf(after)).toEqual(known);
    expect(after.report().budgets.map(({ used }) => used)).toEqual(
      before.report().budgets.map(({ used }) => used),
    );
    expect([MULTICHAIN, SUBGRAPH].map((key) => fleet.endpoint(key).requestCount)).toEqual(asked);
  });

  it("asks those of which there is no evidence any more", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const config = configOf(chainsYaml(fleet, "0 * * * * *"));
    const before = await startTestApp(config, { stateFile });
    await untilReady(before);
    await before[Symbol.asyncDispose]();
    const lastAdvance = knownOf(before).map(({ lastAdvanceMs }) => lastAdvanceMs);
    const tenMinutesLater = () => Date.now() + 600_000;
    for (const key of [MULTICHAIN, SUBGRAPH]) {
      fleet.endpoint(key).set({ latency: { minMs: 1_000, maxMs: 1_000 } });
    }

    await using after = await startTestApp(config, { stateFile, nowMs: tenMinutesLater });

    expect((await fetch(`${after.url}/-/ready`)).status).toBe(503);
    expect(knownOf(after).map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown"]);
    expect(knownOf(after).map(({ lastAdvanceMs }) => lastAdvanceMs)).toEqual(lastAdvance);
    await untilReady(after);
  });
});

describe("startApp() on a state file", () => {
  it("refuses one that another holds, and names that one", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const config = configOf(chainsYaml(fleet));
    const other = {
      pid: process.ppid,
      place: "elsewhere",
      startedAtMs: 0,
      url: "http://other:1",
      token: "x",
    };
    const lock = `${stateFile}.lock`;
    await writeFile(lock, JSON.stringify(other));
    const touching = setInterval(() => void writeFile(lock, JSON.stringify(other)), 200);

    const refused = startTestApp(config, { stateFile });

    await expect(refused).rejects.toThrow(StateLockedError);
    await expect(refused).rejects.toThrow(
      `pid ${process.ppid}, started 1970-01-01T00:00:00.000Z, listening on http://other:1`,
    );
    clearInterval(touching);
  });

  it("watches without one where it can't be written, but spends nothing of a budget", async () => {
    await using fleet = await startIndexers();
    const { logger, lines } = recordLog();

    await using app = await startTestApp(configOf(chainsYaml(fleet)), {
      stateFile: "/nowhere/synclag.state.json",
      logger,
    });
    await untilReady(app);

    const subgraph = targetsOf(app).find(({ target }) => target.variant === "subgraph");
    expect(targetsOf(app).filter(({ status }) => status === "ok")).toHaveLength(2);
    expect(subgraph).toMatchObject({ status: "throttled", reason: "budget" });
    expect(subgraph?.detail).toContain("its folder does not exist");
    expect(fleet.endpoint(SUBGRAPH).requestCount).toBe(0);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 50,
        msg: "State file unavailable; endpoints with a budget will not be polled",
      }),
    );
  });

  it("keeps counting what was spent when it starts under a clock in 1970, and when that is right again", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const config = configOf(chainsYaml(fleet).replace("limit: 3000", "limit: 1"));
    const startedMs = Date.now();
    const statuses: (string | undefined)[] = [];

    for (const nowMs of [Date.now, () => Date.now() - startedMs + 60_000, Date.now]) {
      await using app = await startTestApp(config, { stateFile, nowMs });
      await untilReady(app);
      statuses.push(targetsOf(app).find(({ target }) => target.variant === "subgraph")?.status);
    }

    expect(statuses).toEqual(["ok", "throttled", "throttled"]);
    expect(fleet.endpoint(SUBGRAPH).requestCount).toBe(1);
  });

  it("holds what was spent on disk before it is sent, and no key", async () => {
    await using fleet = await startIndexers();
    await using folder = await temporaryFolder();
    const stateFile = join(folder.path, "synclag.state.json");
    const yaml = chainsYaml(fleet);
    const app = await startTestApp(configOf(yaml), { stateFile });
    await untilReady(app);

    const journal = JSON.parse(await readFile(`${stateFile}.budgets`, "utf8")) as {
      readonly budgets: { readonly accounts: Readonly<Record<string, unknown>> };
    };
    await app[Symbol.asyncDispose]();
    const state = await readFile(stateFile, "utf8");

    expect(Object.values(journal.budgets.accounts)).toMatchObject([
      { buckets: [[expect.any(Number), 1, 0]] },
    ]);
    expect(state).not.toContain("http");
    const left = await readdir(folder.path);
    expect(left.filter((name) => /budgets|lock|tmp/.test(name))).toEqual([]);
  });
});

async function startIndexers(): Promise<SimulatedFleet> {
  return await startFleet({
    nowMs: Date.now,
    endpoints: [
      { kind: "envio", key: MULTICHAIN, chains: ["base", "ethereum"] },
      { kind: "studio", key: SUBGRAPH, chains: ["base"], path: "/query/1/sablier-base/version/latest" },
    ],
  });
}

function chainsYaml(fleet: SimulatedFleet, schedule = YEARLY): string {
  return `
version: 1
budgets:
  studio: { limit: 3000, per: day, scope: endpoint }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  ethereum: { id: 1, name: Ethereum, block_time: 12s }
protocols:
  airdrops:
    - variant: multichain
      dialect: envio
      url: ${fleet.endpoint(MULTICHAIN).url}
      schedule: "${schedule}"
      chains: [base, ethereum]
    - variant: subgraph
      url: "${fleet.endpoint(SUBGRAPH).url}"
      schedule: "${schedule}"
      budget: studio
      chains: [base]
`;
}

async function untilReady(app: App): Promise<void> {
  await vi.waitFor(async () => expect((await fetch(`${app.url}/-/ready`)).status).toBe(200), 10_000);
}

function targetsOf(app: App): readonly TargetReport[] {
  return app.report().chains.flatMap(({ targets }) => targets);
}

function knownOf(app: App) {
  return targetsOf(app).map(({ target, status, reason, block, lastSuccessMs, lastAdvanceMs }) => ({
    key: target.key,
    status,
    reason,
    block,
    lastSuccessMs,
    lastAdvanceMs,
  }));
}
