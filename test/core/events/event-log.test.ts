import { describe, expect, it } from "vitest";
import { type Event, eventOf } from "../../../src/core/events/event.ts";
import { EventLog } from "../../../src/core/events/event-log.ts";
import {
  availabilityOf,
  pastIncidents,
  periodReader,
  slotsOf,
  slotTimes,
} from "../../../src/core/events/timeline.ts";
import { isoTime } from "../../../src/core/model/text.ts";
import { cpuMsOf } from "../../support/cpu-of.ts";
import { expectTold } from "../../support/tell.ts";
import { chainsOf } from "../../views/report-story.ts";
import { sampleReport } from "../../views/sample-report.ts";

const START_MS = Date.parse("2026-11-01T00:00:00Z");

/** The time this number of hours after the start, or of days if it ends in `d`. */
function at(time: string): string {
  return isoTime(START_MS + Number.parseFloat(time) * (time.endsWith("d") ? 24 : 1) * 3_600_000);
}

function hoursOf(time: string): number {
  return (Date.parse(time) - START_MS) / 3_600_000;
}

function textOf({ time, kind, subject, from, to }: Event): string {
  return `${hoursOf(time)} ${kind} ${subject} ${from === null ? "" : `${from} → `}${to}`;
}

function logOf(events: readonly Event[]): EventLog {
  const log = new EventLog();
  log.replace(events);
  return log;
}

describe("pastIncidents()", () => {
  const X = "lockup/subgraph/production/base";
  const Y = "lockup/subgraph/production/mode";
  const incident = (time: string, subject: string, to: string, targets: string[]) =>
    eventOf({ time, kind: "incident", subject, to, targets, target_count: targets.length });
  const past = (...events: readonly Event[]) =>
    pastIncidents(logOf(events), { from: at("0"), to: at("24") }, sampleReport({})).map(
      ({ subject }) => subject,
    );
  const cause = [
    incident(at("2"), "host h.example", "began", [X, Y]),
    incident(at("3"), "host h.example", "ended", [X, Y]),
  ];

  it("leaves out an incident that was the beginning of a shared cause", () => {
    const first = new Date(Date.parse(at("2")) - 2_000).toISOString();

    expect(
      past(
        incident(first, `target ${X}`, "began", [X]),
        incident(at("2"), `target ${X}`, "ended", [X]),
        ...cause,
      ),
    ).toEqual(["h.example"]);
  });

  it("keeps an incident that began before the shared cause, and one that the cause does not explain", () => {
    expect(
      past(
        incident(at("1"), `target ${X}`, "began", [X]),
        incident(at("2"), `target ${X}`, "ended", [X]),
        ...cause,
      ),
    ).toEqual(["h.example", X]);
    expect(
      past(
        incident(at("2"), "target z", "began", ["z"]),
        incident(at("2.5"), "target z", "ended", ["z"]),
        ...cause,
      ),
    ).toEqual(expect.arrayContaining(["h.example", "z"]));
  });
});

class EventStory {
  #log = new EventLog();
  readonly #day = { from: at("0"), to: at("24") };

  do(line: string): readonly string[] {
    const [first = "", second = "", third = "", to = "", unwatched] = line.split(" ");
    const periods = () => periodReader(this.#log, this.#day)("status", second);
    switch (first) {
      case "again":
        this.#log = logOf(this.#log.originals);
        return [];
      case "clock":
        this.#log.shift(Date.parse(at(second)) - START_MS);
        return [];
      case "all":
        return this.#log.all().map(textOf);
      case "periods":
        return [
          ...periods().map(({ from, state }) => `${hoursOf(from)} ${state}`),
          JSON.stringify(availabilityOf(periods())),
        ];
      case "slots":
        return slotsOf(periods(), slotTimes(this.#day, 6)).map(({ state }) => String(state));
      case "incidents":
        return pastIncidents(
          this.#log,
          { from: at(second), to: at(third) },
          sampleReport({ generated_at: at(third) }),
        ).map(
          ({ subject, since, until, duration_seconds: seconds }) =>
            `${subject} from ${hoursOf(since)} to ${until === null ? "now" : hoursOf(until)}, ${seconds} s`,
        );
    }
    if (second === "report" || second === "early") {
      const chains = chainsOf(line.split(" ").slice(2).join(" "));
      const news = this.#log.note(
        { ...sampleReport({ chains }), generated_at: at(first) },
        second === "report",
      );
      return news.length === 0 ? ["nothing"] : news.map(textOf);
    }
    const kind = second as Event["kind"];
    const event = { time: at(first), kind, subject: third.replace("_", " "), to };
    if (to === "started") {
      this.#log.begin(Date.parse(event.time));
    }
    this.#log.add(eventOf(unwatched === undefined ? event : { ...event, unwatched_since: at(unwatched) }));
    return [];
  }
}

it("adds the events of a report, deletes old ones, and has the incidents and periods of a span of time", async () => {
  await expectTold("test/fixtures/events.txt", () => new EventStory());
});

describe("EventLog", () => {
  const reportAt = (time: string, status = "ok") => {
    const chains = chainsOf(`Base: multichain ${status}, subgraph ok`);
    return { ...sampleReport({ chains }), generated_at: at(time) };
  };

  it("keeps the last 500 changes of a target that flaps, and never many more than 100,000 in all", () => {
    const log = new EventLog();
    const subjects = Array.from({ length: 210 }, (_, index) => `lockup/v${index}/production/base`);
    for (let second = 0; second < 510; second += 1) {
      const time = isoTime(START_MS + second * 1_000);
      subjects.forEach((subject) => void log.add(eventOf({ time, kind: "status", subject, to: "ok" })));
    }
    const [own] = log.lists.values();
    expect(own?.map(({ time }) => (Date.parse(time) - START_MS) / 1_000)).toEqual(
      [...Array(510).keys()].slice(10),
    );

    log.note(reportAt("1"), true);

    expect(log.size).toBeGreaterThan(89_000);
    expect(log.size).toBeLessThanOrEqual(91_000);
    expect(log.all().at(-1)?.time).toBe(at("1"));
  });

  it("takes over the subjects that another process has changed", () => {
    const leader = new EventLog();
    leader.note(reportAt("0"), true);
    const standby = logOf(leader.all());
    const before = new Set(leader.all());
    leader.note(reportAt("24", "stalled"), true);

    const changed = [...leader.lists].filter(([, events]) => !events.every((one) => before.has(one)));
    standby.replace(changed.flatMap(([, events]) => events));
    standby.replace(changed.flatMap(([, events]) => events));

    expect(changed.map(([name]) => name)).toEqual(["status lockup/multichain/production/base"]);
    expect(standby.all()).toEqual(leader.all());
  });
});

describe("periodReader()", () => {
  it("takes a time that is linear in the number of events and restarts", async () => {
    const toMs = Date.UTC(2026, 10, 23);
    const interval = { from: isoTime(toMs - 90 * 86_400_000), to: isoTime(toMs) };
    const costOf = (count: number, subjects: number) => {
      const log = new EventLog();
      for (let age = count; age > 0; age -= 1) {
        const time = isoTime(toMs - (age * 80 * 86_400_000) / count);
        const unwatched_since = isoTime(Date.parse(time) - 60_000);
        log.add(eventOf({ time, kind: "process", subject: "synclag", to: "started", unwatched_since }));
        for (let subject = 0; subject < subjects; subject += 1) {
          const to = age % 2 === 0 ? "ok" : "down";
          log.add(eventOf({ time, kind: "pair", subject: `${subject}`, to }));
        }
      }
      return cpuMsOf(() => {
        const read = periodReader(log, interval);
        const times = slotTimes(interval, 5);
        for (let subject = 0; subject < subjects; subject += 1) {
          slotsOf(read("pair", `${subject}`), times);
        }
      });
    };

    const leastCostOf = async (count: number, subjects: number) =>
      Math.min(await costOf(count, subjects), await costOf(count, subjects), await costOf(count, subjects));

    await leastCostOf(480, 80);
    // Both read as many events: 1, or 4 and more if a scan begins at the first restart each time.
    expect((await leastCostOf(480, 80)) / (await leastCostOf(30, 1_280))).toBeLessThan(2.2);
  });
});
