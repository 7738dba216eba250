import { expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { EventLog } from "../../src/core/events/event-log.ts";
import { commandWorld } from "../support/command-world.ts";
import { serve } from "../support/served.ts";
import { fleetReport } from "../views/fleet-report.ts";

const NOW_MS = Date.parse("2026-11-20T03:00:00Z");
const EVENTS = [
  '{"time":"2026-11-18T01:00:00.000Z","kind":"status","subject":"airdrops/subgraph/production/base","from":"ok","to":"failed"}',
  '{"time":"2026-11-20T01:00:00.000Z","kind":"status","subject":"airdrops/subgraph/production/base","from":"ok","to":"stalled","detail":"stands still"}',
  '{"time":"2026-11-20T02:00:00.000Z","kind":"pair","subject":"airdrops/base","from":"degraded","to":"down"}',
  '{"time":"2026-11-20T02:30:00.000Z","kind":"status","subject":"lockup/subgraph/production/mode","from":"ok","to":"lagging","lag_seconds":720}',
].join("\n");

async function run(readFile: (path: string) => string, ...argv: readonly string[]) {
  const { world, printed } = commandWorld({});
  const exitCode = await runCli(["node", "synclag", "events", ...argv], {
    ...world,
    readFile: reading,
    nowMs: () => NOW_MS,
  });
  return { exitCode, out: printed.out.join("\n"), err: printed.err.join("\n") };

  function reading(path: string): string {
    return path.endsWith("package.json") ? world.readFile(path) : readFile(path);
  }
}

const fromFile = (path: string) => {
  expect(path).toBe("ops/synclag.state.json.events");
  return EVENTS;
};

it("prints the selected events of the file next to the state file, the latest last", async () => {
  const of = (...argv: readonly string[]) => run(fromFile, "--config", "ops/chains.yaml", ...argv);
  const lines = async (...argv: readonly string[]) =>
    (await of(...argv)).out.split("\n").map((line) => line.trim());

  expect(await lines()).toEqual([
    "TIME          WHAT                       CHANGE           DETAIL",
    "01:00:00 UTC  airdrops subgraph on base  ok → stalled     stands still",
    "02:00:00 UTC  airdrops on base           degraded → down",
    "02:30:00 UTC  lockup subgraph on mode    ok → lagging     12 min behind",
  ]);
  expect(await lines("lockup", "airdrops/base/subgraph", "--since", "7d")).toHaveLength(4);
  expect(await lines("--status", "down", "--limit", "1")).toHaveLength(2);
  expect(JSON.parse((await of("--format", "json", "--limit", "1")).out)).toMatchObject({
    from: "2026-11-19T03:00:00.000Z",
    total: 3,
    events: [{ subject: "lockup/subgraph/production/mode", lag_seconds: 720 }],
  });
  expect((await of("vaults")).out).toBe("Nothing happened in that time");
});

it("asks a running daemon", async () => {
  const log = new EventLog();
  const report = fleetReport();
  log.note(report, true);
  await using server = await serve({ report: () => report, events: log });

  const { out, exitCode } = await run(fromFile, "--url", server.url, "lockup/base", "--since", "2020-01-01");

  expect(exitCode).toBe(0);
  expect(out).toMatch(/lockup subgraph on base +unknown → \w+/);
  expect(out).not.toContain("airdrops");
});

it("reports an invalid time, limit or kind, and the path of a missing file", async () => {
  const missing = () => {
    throw Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });
  };

  expect(await run(fromFile, "--since", "soon")).toMatchObject({
    exitCode: 2,
    err: 'Cannot use --since "soon": expected a time such as 2026-11-23T03:00:00Z, or how long ago, such as 24h or 7d',
  });
  expect((await run(fromFile, "--limit", "0")).err).toContain(
    'Cannot use limit "0": Too small: expected number to be >=1',
  );
  expect((await run(fromFile, "--kind", "x")).err).toContain(
    'Cannot use kind "x": Invalid option: expected one of "status"|"pair"',
  );
  expect((await run(missing)).err).toContain("Cannot read the events file synclag.state.json.events: ");
});
