import { describe, expect, it } from "vitest";
import { eventOf } from "../../../src/core/events/event.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import { type Occurrence, occurrencesOf } from "../../../src/core/events/occurrences.ts";
import { pastIncidents } from "../../../src/core/events/timeline.ts";
import { sampleReport } from "../../views/sample-report.ts";

const DAY = { from: "2026-11-30T00:00:00.000Z", to: "2026-12-01T00:00:00.000Z" };
const HOSTS = new Map([["a.example", new Set(keys(150))]]);

describe("occurrencesOf()", () => {
  it("has one occurrence for a shared cause, from its first target to its last, even if it has more targets than are kept", () => {
    const log = new EventLog();
    const incident = {
      kind: "incident" as const,
      subject: "host a.example",
      targets: keys(150),
      target_count: 150,
    };
    log.add(eventOf({ ...incident, time: at("03:01:00"), to: "began", detail: "150 of 150 are down" }));
    log.add(eventOf({ ...incident, time: at("03:30:00"), to: "ended", detail: "150 of 150 are down" }));
    for (const [index, subject] of keys(150).entries()) {
      const status = { kind: "status", subject } as const;
      log.add(
        eventOf({ ...status, time: at(index < 4 ? "03:00:10" : "03:01:00"), from: "ok", to: "unreachable" }),
      );
      log.add(
        eventOf({ ...status, time: at(index < 4 ? "03:31:00" : "03:30:00"), from: "unreachable", to: "ok" }),
      );
    }
    const single = {
      kind: "incident" as const,
      subject: `target ${keys(1)[0]}`,
      targets: keys(1),
      target_count: 1,
    };
    log.add(eventOf({ ...single, time: at("03:00:10"), to: "began", detail: "it is down" }));
    log.add(eventOf({ ...single, time: at("03:01:00"), to: "ended", detail: "it is down" }));

    const found = read(log);

    expect(found.map(summary)).toEqual([
      "host a.example: 150 ok → unreachable, 1 began, 1 ended, 150 unreachable → ok",
    ]);
  });

  it("counts how often an incident came in a day, and keeps what it does not explain apart", () => {
    const log = new EventLog();
    const [key = ""] = keys(1);
    const incident = { kind: "incident" as const, subject: `target ${key}`, targets: [key], target_count: 1 };
    for (const hour of ["05", "06", "07"]) {
      const status = { kind: "status", subject: key } as const;
      log.add(eventOf({ ...incident, time: at(`${hour}:00:00`), to: "began" }));
      log.add(eventOf({ ...status, time: at(`${hour}:00:00`), from: "ok", to: "stalled" }));
      log.add(eventOf({ ...status, time: at(`${hour}:20:00`), from: "stalled", to: "ok" }));
      log.add(eventOf({ ...incident, time: at(`${hour}:20:00`), to: "ended" }));
    }
    log.add(eventOf({ kind: "status", subject: key, time: at("08:00:00"), from: "ok", to: "throttled" }));
    log.add(eventOf({ kind: "process", subject: "synclag", time: at("04:00:00"), to: "started" }));

    const found = read(log);

    expect(found.map(({ incidents }) => incidents.length)).toEqual([0, 3, 0]);
    expect(found.map(({ time }) => time)).toEqual([at("08:00:00"), at("07:00:00"), at("04:00:00")]);
  });
});

function read(log: EventLog): readonly Occurrence[] {
  const report = { ...sampleReport({}), generated_at: DAY.to, incidents: [] };
  const events = log.all().filter(({ kind }) => kind !== "incident");
  return occurrencesOf(log, pastIncidents(log, DAY, report), events, HOSTS);
}

function summary({ changes, incidents: [incident] }: Occurrence): string {
  const words = changes.map((events) => {
    const [{ from, to }] = events;
    return `${events.length} ${from === null ? "" : `${from} → `}${to}`;
  });
  return `${incident?.scope} ${incident?.subject}: ${words.join(", ")}`;
}

function keys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `lockup/subgraph/production/chain-${index}`);
}

function at(clock: string): string {
  return `2026-11-30T${clock}.000Z`;
}
