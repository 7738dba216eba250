import { describe, expect, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import type { LogLine } from "../support/log-recorder.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
poll: { retries: 0 }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "*/15 * * * * *", chains: [base, mode] }
    - { variant: squid, dialect: squid, url: "https://{chain}.squid.example/", schedule: "*/15 * * * * *", chains: [base, mode] }
    - { variant: ponder, dialect: ponder, url: "https://ponder.example/", schedule: "*/15 * * * * *", chains: [base, mode] }
`;
const BASE = "airdrops/subgraph/production/base";
const LEVELS: Readonly<Record<number, string>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

describe("the log", () => {
  it("has one line after the first round, and no line while nothing changes", async () => {
    await using play = await startScenario(FLEET);

    await play.run("5m");

    expect(linesFrom(play, 0).filter((line) => !line.startsWith("debug"))).toEqual(["info First round done"]);
    expect(play.log).toContainEqual(expect.objectContaining({ msg: "First round done", ok: 6 }));
  });

  it("has one line for each change of status: a warning for a fault, information for its end", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    const before = play.log.length;

    play.fleet.endpoint(BASE).fail(FAULTS.unknown_key);
    await play.run("3m");
    play.fleet.endpoint(BASE).fail(FAULTS.http_404);
    await play.run("3m");
    play.fleet.endpoint(BASE).heal();
    await play.run("3m");

    expect(linesFrom(play, before)).toEqual([
      `warn Status changed ${BASE} ok → rejected`,
      `warn Status changed ${BASE} rejected → not_found`,
      `info Status changed ${BASE} not_found → ok`,
    ]);
    expect(play.log.find(({ to }) => to === "rejected")).toMatchObject({
      reason: "unauthorized",
      detail: expect.stringContaining("API key not found"),
    });
  });

  it("has one line when an incident begins and one when it ends; the targets that it explains are at debug", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    const before = play.log.length;

    play.setHost("graph.example", "down");
    await play.run("4m");
    play.setHost("graph.example", "up");
    await play.run("3m");

    expect(linesFrom(play, before)).toEqual([
      "warn Incident began endpoint airdrops/subgraph/production",
      `debug Status changed ${BASE} ok → unreachable`,
      "debug Status changed airdrops/subgraph/production/mode ok → unreachable",
      "info Incident ended endpoint airdrops/subgraph/production",
      `debug Status changed ${BASE} unreachable → ok`,
      "debug Status changed airdrops/subgraph/production/mode unreachable → ok",
    ]);
    expect(play.log.find(({ msg }) => msg === "Incident ended")).toMatchObject({
      since: expect.stringMatching(/^2026-11-20T03:05:/),
    });
  });

  it("warns of a target that stays faulty when the incident around it ends", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    play.setHost("graph.example", "down");
    await play.run("4m");
    const before = play.log.length;

    play.fleet.endpoint(BASE).fail(FAULTS.unknown_key);
    play.setHost("graph.example", "up");
    await play.run("3m");

    expect(linesFrom(play, before)).toContain(`warn Status changed ${BASE} unreachable → rejected`);
  });

  it("has no line about a target that a reload adds or removes", async () => {
    const without = FLEET.replace("    - { variant: ponder", "#");
    await using play = await startScenario(without, { simulated: FLEET });
    await play.run("5m");
    play.fleet.endpoint(BASE).fail(FAULTS.unknown_key);
    await play.run("5m");
    const before = play.log.length;

    await play.reload(FLEET.replace(/ {4}- \{ variant: subgraph.*\n/, ""));
    await play.run("5m");

    expect(linesFrom(play, before).filter((line) => !line.startsWith("debug"))).toEqual(["info Reloaded"]);
  });

  it("has each failed poll at debug, with its endpoint and reason", async () => {
    await using play = await startScenario(FLEET);
    play.fleet.endpoint(BASE).fail(FAULTS.http_502);

    await play.run("1m");

    expect(play.log.find(({ msg }) => msg === "Poll failed")).toEqual({
      level: 20,
      endpoint: BASE,
      reason: "http_status",
      detail: expect.stringContaining("502"),
      msg: "Poll failed",
    });
  });
});

/** What was logged since, without failed polls. */
function linesFrom({ log }: Scenario, index: number): readonly string[] {
  return log.slice(index).flatMap((line) => (line["msg"] === "Poll failed" ? [] : [textOf(line)]));
}

function textOf({ level, msg, target, from, to, scope, subject }: LogLine): string {
  const change = target === undefined ? [scope, subject] : [target, from, "→", to];
  return [LEVELS[Number(level)], msg, ...change].filter((part) => part !== undefined).join(" ");
}
