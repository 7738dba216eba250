import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedCauses } from "../../src/core/model/report.ts";
import { faultNamed } from "../support/faults.ts";
import { expectGolden, readWithoutNote } from "../support/golden.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";
import { behind, type Script, ScriptedFleet } from "../support/scripted-fleet.ts";

const FILE = "test/fixtures/incidents.expected.txt";
const OUTAGES_FILE = "test/fixtures/network-outages.expected.txt";
const FLEET = readFileSync("test/fixtures/incidents.yaml", "utf8");

it("reports each cause of test/fixtures/incidents.expected.txt two minutes after each step", () => {
  const cases = readWithoutNote(FILE).trimEnd().split("\n\n");
  const told: string[] = [];
  for (const [title = "", ...lines] of cases.map((text) => text.split("\n"))) {
    const play = new ScriptedFleet(FLEET).run("45s");
    told.push(title);
    for (const step of lines.filter((line) => !line.startsWith("=> "))) {
      happen(play, step);
      const causes = sharedCauses(play.run("2m").report().incidents).map(({ detail }) => `=> ${detail}`);
      told.push(step, ...(causes.length === 0 ? ["=> no shared cause"] : causes));
    }
    told.push("");
  }

  expect(cases.length).toBeGreaterThan(25);
  expectGolden(FILE, told.join("\n"));
});

describe("an outage of our own network", () => {
  it("is reported as in test/fixtures/network-outages.expected.txt", async () => {
    const told: string[] = [];
    const cases = readWithoutNote(OUTAGES_FILE).matchAll(/^([^:]*): ([^;]*); (.*) => /gm);
    for (const [, what = "", sources = "", fail = ""] of cases) {
      await using play = await startScenario(fleetOf(sources));
      await play.run("1m");
      await failAll(play, fail);

      await play.run("3m");

      const isTold = play.report().incidents.some(({ scope }) => scope === "network");
      told.push(
        `${what}: ${sources}; ${fail} => ${isTold ? "an incident of our own network" : "no such incident"}\n`,
      );
    }

    expect(told.length).toBeGreaterThan(15);
    expectGolden(OUTAGES_FILE, told.join(""));
  });
});

const SCHEDULES: Readonly<Record<string, string>> = { "30m": "0 */30 * * * *", later: "7-59/15 * * * * *" };

/** The fleet of `a b:30m rpc`, as the note of the file says. */
function fleetOf(sources: string): string {
  const named = sources.split(" ").map((source) => source.split(":"));
  const nodes = named.flatMap(([name = ""]) =>
    name.startsWith("rpc") ? [`"https://${name}.example/"`] : [],
  );
  const indexers = named
    .filter(([name = ""]) => !name.startsWith("rpc"))
    .map(([name, polls]) => {
      const schedule = SCHEDULES[polls ?? ""] ?? "*/15 * * * * *";
      return `{ variant: ${name}, dialect: graph, url: "https://${name}.example/x", schedule: "${schedule}", chains: [base] }`;
    });
  return `
version: 1
poll: { retries: 0, rpc_schedule: "*/15 * * * * *" }
chains: { base: { id: 8453, block_time: 2s, rpc: [${nodes.join(", ")}] } }
protocols: { airdrops: [${indexers.join(", ")}] }
`;
}

/** How long a host is down before the next one fails. */
const DOWN_BEFORE: Readonly<Record<string, string>> = { long: "2m", poll: "25s" };

/** Lets the sources of `a b=http_429 c=wait d=long e=poll` fail. */
async function failAll(play: Scenario, names: string): Promise<void> {
  for (const [name = "", fault] of names.split(" ").map((one) => one.split("="))) {
    const endpoint = `airdrops/${name}/production/all`;
    if (fault === "wait") {
      play.fleet.endpoint(endpoint).fail({ status: 429, headers: { "retry-after": "3600" }, body: "" });
      await play.run("20s");
    } else if (fault !== undefined && DOWN_BEFORE[fault] === undefined) {
      play.fleet.endpoint(endpoint).fail(faultNamed(fault));
      continue;
    }
    play.setHost(`${name}.example`, "down");
    await play.run(DOWN_BEFORE[fault ?? ""] ?? "0s");
  }
}

/** Plays a step such as `freeze airdrops/subgraph/base|form, halt sei`. */
function happen(play: ScriptedFleet, what: string): void {
  for (const [, verb = "", subject = ""] of what.matchAll(/(\w+) ([^ ,]+)/g)) {
    if (verb === "wait") {
      play.run(subject);
      continue;
    }
    const [protocol = "", variant, names = ""] = subject.split("/");
    const chains = names === "all" || names === "*" ? "\\w+" : `(${names})`;
    const targets = `${protocol === "*" ? "\\w+" : protocol}/${variant === "*" ? "\\w+" : variant}/production/${chains}`;
    play.script(variant === undefined ? subject : targets, SCRIPTS[verb]?.() ?? fail(verb));
  }
}

function fail(verb: string): never {
  throw new RangeError(`Cannot do ${verb}: test/STORIES.md has the verbs`);
}

const SCRIPTS: Readonly<Record<string, () => Script>> = {
  freeze: frozen,
  halt: frozen,
  slow: slowed,
  drop: () => () => "missing",
  break:
    () =>
    ({ head }) => ({ block: head, indexingErrors: true }),
  swap:
    () =>
    ({ head, time }) => ({ block: head + 20_000_000, timestampSec: time(head) }),
  thaw: () => behind(0),
  heal: () => behind(0),
  up: () => behind(0),
  down: () => () => "connect",
  fail: () => () => "http_status",
  unknown_key: () => () => "unauthorized",
  http_429: () => () => "rate_limited",
  subgraph_not_found: () => () => "not_found",
};

/** Stays at the block of the first poll, with its time. */
function frozen(): Script {
  let stuck: number | null = null;
  return ({ head, time }) => {
    stuck ??= head;
    return { block: stuck, timestampSec: time(stuck) };
  };
}

/** From the first poll on, advances at three tenths of the chain's pace. */
function slowed(): Script {
  let from: number | null = null;
  return ({ head }) => {
    from ??= head;
    return Math.floor(from + (head - from) * 0.3);
  };
}
