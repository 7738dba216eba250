import { describe, expect, it } from "vitest";
import { type Event, eventOf } from "../../../src/core/events/event.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import { availabilityOf, incidentsOf, periodReader, slotsOf } from "../../../src/core/events/timeline.ts";
import type { Status } from "../../../src/core/model/report.ts";
import { isoTime } from "../../../src/core/model/text.ts";
import {
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../../views/sample-report.ts";

const START_MS = Date.parse("2026-11-01T00:00:00Z");
const DAY_MS = 86_400_000;

/** A report of one chain at this time. */
function reportAt(atMs: number, statuses: Readonly<Record<string, Status>>) {
  const targets = Object.entries(statuses).map(([variant, status]) =>
    sampleTargetReport({ target: sampleTarget({ variant }), status }),
  );
  return { ...sampleReport({ chains: [sampleChainReport({ targets })] }), generated_at: isoTime(atMs) };
}

function logOf(events: readonly Event[]): EventLog {
  const log = new EventLog();
  log.replace(events);
  return log;
}

function changesOf(events: readonly Event[]): readonly string[] {
  return events.map(({ kind, subject, from, to }) => `${kind} ${subject} ${from} → ${to}`);
}

describe("incidentsOf()", () => {
  it("returns events that overlap the interval, the latest first, with their end", () => {
    const at = (hour: number) => isoTime(START_MS + hour * 3_600_000);
    const incident = (subject: string, hour: number, to: "began" | "ended") =>
      eventOf({ time: at(hour), kind: "incident", subject: `host ${subject}`, to });
    const events = [
      incident("over", 1, "began"),
      incident("over", 2, "ended"),
      incident("reaches-in", 3, "began"),
      incident("reaches-in", 5, "ended"),
      incident("goes-on", 6, "began"),
      incident("later", 9, "began"),
    ];

    const found = incidentsOf(logOf(events), { from: at(4), to: at(8) }, at(8));

    expect(found.map(({ subject, since, until, duration_seconds: s }) => [subject, since, until, s])).toEqual(
      [
        ["goes-on", at(6), null, 7_200],
        ["reaches-in", at(3), at(5), 7_200],
      ],
    );
  });
});

describe("EventLog", () => {
  it("adds what differs from the last event, whatever the report before said", () => {
    const log = new EventLog();

    const first = changesOf(log.note(reportAt(START_MS, { multichain: "ok", subgraph: "stalled" }), true));
    const same = log.note(reportAt(START_MS + 1_000, { multichain: "ok", subgraph: "stalled" }), true);
    const next = changesOf(log.note(reportAt(START_MS + 2_000, { multichain: "ok", subgraph: "ok" }), true));

    expect(log.all("status")[0]).toMatchObject({ kind: "status", target_count: 0, targets: [] });
    expect(first).toEqual([
      "status lockup/multichain/production/base unknown → ok",
      "status lockup/subgraph/production/base unknown → stalled",
      "pair lockup/base unknown → degraded",
    ]);
    expect(same).toEqual([]);
    expect(next).toEqual([
      "status lockup/subgraph/production/base stalled → ok",
      "pair lockup/base degraded → ok",
    ]);
  });

  it("takes `unknown` for news only once every endpoint has been polled", () => {
    const log = new EventLog();
    log.note(reportAt(START_MS, { multichain: "ok" }), true);

    const restarted = logOf(log.all());

    expect(restarted.note(reportAt(START_MS + 1_000, { multichain: "unknown" }), false)).toEqual([]);
    expect(changesOf(restarted.note(reportAt(START_MS + 2_000, { multichain: "unknown" }), true))).toEqual([
      "status lockup/multichain/production/base ok → unknown",
      "pair lockup/base ok → unknown",
    ]);
  });

  it("keeps 500 changes of a target that flaps, and never more than 100,000 in all", () => {
    const log = new EventLog();
    const variants = Array.from({ length: 220 }, (_, index) => `v${index}`);
    const reports = (["ok", "stalled"] as const).map((status) =>
      reportAt(START_MS, Object.fromEntries(variants.map((one) => [one, status]))),
    );
    for (let minute = 0; minute < 600; minute += 1) {
      const report = reports[minute % 2] ?? sampleReport();
      const targets = report.targets.map((target) => ({ ...target }));
      log.note({ ...report, targets, generated_at: isoTime(START_MS + minute * 60_000) }, true);
    }

    expect(log.of("status", "lockup/v0/production/base").length).toBeLessThanOrEqual(500);
    expect(log.size).toBeLessThanOrEqual(100_300);
    expect(log.all()).toHaveLength(log.size);
    expect(log.all().at(-1)?.time).toBe(isoTime(START_MS + 599 * 60_000));
  });

  it("drops the oldest change of a target that has changed more than 500 times", () => {
    const log = new EventLog();
    const times = Array.from({ length: 510 }, (_, second) => isoTime(START_MS + second * 1_000));
    for (const time of times) {
      log.add(eventOf({ time, kind: "status", subject: "lockup/v0/production/base", to: "ok" }));
    }

    expect(log.all().map(({ time }) => time)).toEqual(times.slice(10));
  });

  it("drops events after 30 days (pairs: 90), except the last event of a configured target or pair", () => {
    const log = new EventLog();
    log.note(reportAt(START_MS, { multichain: "stalled", subgraph: "ok" }), true);
    log.note(reportAt(START_MS + DAY_MS, { multichain: "ok", subgraph: "ok" }), true);
    log.note(reportAt(START_MS + 40 * DAY_MS, { multichain: "ok" }), true);
    const after40Days = changesOf(log.all());
    log.note(reportAt(START_MS + 100 * DAY_MS, { multichain: "ok" }), true);

    expect(after40Days).toEqual([
      "pair lockup/base unknown → degraded",
      "pair lockup/base degraded → ok",
      "status lockup/multichain/production/base stalled → ok",
    ]);
    expect(changesOf(log.all())).toEqual(after40Days.slice(1));
  });

  it("takes the subjects that another process has changed", () => {
    const [leader, standby] = [new EventLog(), new EventLog()];
    leader.note(reportAt(START_MS, { multichain: "ok", subgraph: "ok" }), true);
    standby.replace(leader.all());
    const before = new Set(leader.all());
    leader.note(reportAt(START_MS + DAY_MS, { multichain: "stalled", subgraph: "ok" }), true);

    const changed = [...leader.lists].filter(([, events]) => !events.every((one) => before.has(one)));
    standby.replace(changed.flatMap(([, events]) => events));
    standby.replace(changed.flatMap(([, events]) => events));

    expect(changed.map(([name]) => name)).toEqual([
      "status lockup/multichain/production/base",
      "pair lockup/base",
    ]);
    expect(standby.all()).toEqual(leader.all());
  });
});

describe("what follows of events for a time", () => {
  const at = (hours: number) => START_MS + hours * 3_600_000;
  const event = (hours: number, to: string, given: Partial<Event> = {}) =>
    eventOf({ time: isoTime(at(hours)), kind: "status", subject: "x", to, ...given });
  const process = (hours: number, to: string, given: Partial<Event> = {}) =>
    event(hours, to, { kind: "process", subject: "synclag", ...given });
  const day = { from: isoTime(at(0)), to: isoTime(at(24)) };
  const periodsOf = (events: readonly Event[]) => periodReader(logOf(events), day)("status", "x");

  it("has no hole, and says nothing of the time in which no process polled", () => {
    const periods = periodsOf([
      ...[process(0, "started"), process(10, "started", { unwatched_since: isoTime(at(8)) })],
      ...[process(23, "stopped"), event(2, "ok"), event(6, "stalled"), event(12, "ok")],
    ]);

    expect(periods.map(({ from, to, state }) => [Date.parse(from), Date.parse(to), state])).toEqual([
      [at(0), at(2), null],
      [at(2), at(6), "ok"],
      [at(6), at(8), "stalled"],
      [at(8), at(10), null],
      [at(10), at(12), "stalled"],
      [at(12), at(23), "ok"],
      [at(23), at(24), null],
    ]);
    expect(availabilityOf(periods)).toEqual({
      ok_share: 0.7894,
      usable_share: 0.7894,
      longest_outage_seconds: 4 * 3_600,
      known_seconds: 19 * 3_600,
    });
  });

  it("counts a lagging target as usable, and neither unknown nor throttled at all", () => {
    const words = ["ok", "lagging", "unknown", "throttled", "stalled", "failed"];
    const periods = periodsOf(words.map((word, index) => event(index * 4, word)));

    expect(availabilityOf(periods)).toEqual({
      ok_share: 1 / 4,
      usable_share: 2 / 4,
      longest_outage_seconds: 8 * 3_600,
      known_seconds: 16 * 3_600,
    });
  });

  it("shows the worst of each slot, however short it was", () => {
    const changes = [event(-5, "ok"), event(3, "stalled"), event(3.01, "ok")];
    const periods = periodsOf([...changes, event(10, "failed"), event(12, "lagging")]);

    const slots = slotsOf(periods, day, 6).map(({ state }) => state);

    expect(slots).toEqual(["stalled", "ok", "failed", "lagging", "lagging", "lagging"]);
  });
});
