import { expect, it } from "vitest";
import type { Observation } from "../../src/core/model/observation.ts";
import type { ParityReading } from "../../src/core/model/parity.ts";
import { parityValueOf } from "../../src/dialects/selections.ts";
import { expectGolden, readWithoutNote } from "../support/golden.ts";
import { FIRST_BLOCK, ScriptedFleet } from "../support/scripted-fleet.ts";
import { fleetYaml } from "./statuses/fleets.ts";

const FILE = "test/fixtures/parity.expected.txt";

/** A height, counted from the head at the start, and the value there. */
type Said = readonly [height: number, value: unknown];
/** The replies of the two variants in one poll. */
interface Poll {
  readonly a?: Said | undefined;
  readonly b?: Said | undefined;
  readonly deployment: string | null;
}

it("judges the data of two variants as test/fixtures/parity.expected.txt says", () => {
  const rows = [...readWithoutNote(FILE).matchAll(/^([^:]*): (?:(\S+ each .*); )?(.*) => /gm)];

  const told = rows.map(([start, , settings = "", polls = ""]) => {
    const [, polled = "1m"] = /polled each (\w+)/.exec(settings) ?? [];
    const [, read = polled] = /read each (\w+)/.exec(settings) ?? [];
    return `${start}${saidAfter(pollsOf(polls), polled, read)}\n`;
  });

  expect(told.length).toBeGreaterThan(45);
  expectGolden(FILE, told.join(""));
});

/** The results, each with the last poll that had it, and what the last one says. */
function saidAfter(polls: readonly Poll[], polled: string, read: string): string {
  const schedule = polled === "1m" ? "0 * * * * *" : "*/10 * * * * *";
  const query = { select: "campaigns(first: 1) { subgraphId }", value: "campaigns.0.subgraphId" };
  const fleet = fleetYaml(["a", "b"], { schedules: { a: schedule, b: schedule } });
  const probe = { name: "rows", protocol: "airdrops", every: read, queries: { a: query, b: query } };
  const play = new ScriptedFleet(JSON.stringify({ ...JSON.parse(fleet), parity: [probe] }));
  const results = polls.map((poll) => {
    play.wait(polled);
    play.observe(...observed(play.nowMs, "a", poll)).observe(...observed(play.nowMs, "b", poll));
    // As the daemon does each second.
    play.report();
    return resultIn(play);
  });
  const ends = results.flatMap(({ result }, at) => {
    const next = results[at + 1];
    return next === undefined || next.result === result ? [] : [`${result} until poll ${at + 1}, then `];
  });
  return `${ends.join("")}${results.at(-1)?.text}`;
}

function resultIn(play: ScriptedFleet) {
  const [pair] = play.report().parity;
  const { against_value: first = "", block = null, detail = "", result, value: second = "" } = pair ?? {};
  if (block === null) {
    return { result, text: `${result}: ${detail.replace(/^not known to be equal to a: /, "")}` };
  }
  const values = result === "equal" ? first : `a ${first}, b ${second}`;
  return {
    result,
    text: `${result}: ${values?.replaceAll(/x{9,}/g, "xxx…")} at height ${block - FIRST_BLOCK}`,
  };
}

function pollsOf(text: string): readonly Poll[] {
  const each = text.replaceAll(
    /n=(\d+)\.\.(\d+) \(([^)]*)\)/g,
    (_, from: string, to: string, polls: string) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_unused, at) =>
        polls.replaceAll(/\{(\d*)n([+-]\d+)?\}/g, (_all: string, factor: string, plus = "0") =>
          String(Number(factor || 1) * (Number(from) + at) + Number(plus)),
        ),
      ).join(", "),
  );
  return each.split(", ").map((poll) => {
    const [, height, a, own = height, b, deployment = null] =
      /^(-?\d+):([\w!]*)\|(?:(-?\d+):)?([\w!]*)(?:@(\w+))?$/.exec(poll) ?? [];
    return { a: saidOf(height, a), b: saidOf(own, b), deployment };
  });
}

function saidOf(height: string | undefined, text = ""): Said | undefined {
  if (text === "") {
    return undefined;
  }
  const value = /^\d+$/.test(text) ? Number(text) : text.replace(/^long/, "x".repeat(200));
  return [Number(height), text === "!" ? ["no value"] : value];
}

/** What a poll of a variant brings: its height, and the value that came with it. */
function observed(nowMs: number, variant: "a" | "b", poll: Poll): [[Observation], ParityReading[]] {
  const target = `airdrops/${variant}/production/base`;
  const times = { sentAtMs: nowMs, receivedAtMs: nowMs };
  const said = poll[variant];
  if (said === undefined) {
    return [[{ ...times, source: target, kind: "failed", reason: "http_status", detail: "" }], []];
  }
  const block = FIRST_BLOCK + said[0];
  const head = { block, timestampSec: null, hash: null, deployment: poll.deployment, indexingErrors: null };
  const value = parityValueOf(said[1]);
  const reading = { ...times, probe: "rows", target };
  return [
    [{ ...times, source: target, kind: "head", head }],
    [
      value === null
        ? { ...reading, kind: "unreadable", detail: "a list" }
        : { ...reading, kind: "value", block, value },
    ],
  ];
}
