import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { NotifiedIncident } from "../../src/core/events/decide-messages.ts";
import type { Incident, Report } from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";
import { Notifier } from "../../src/daemon/notify.ts";
import { fleetYaml } from "../scenarios/statuses/fleets.ts";
import { recordLog } from "../support/log-recorder.ts";
import { configOf, testWorld } from "../support/running-app.ts";
import { NOTIFY, Webhook } from "../support/webhook.ts";
import { NOW_MS, sampleReport } from "../views/sample-report.ts";

const MINUTE_MS = 60_000;
const HEARTBEAT_MS = 30_000;
const HEADERS = { Authorization: "Bearer very secret" };

let webhook: Webhook;
let log: ReturnType<typeof recordLog>;
/** The state of the daemon that the notifier sees; a test replaces what it needs. */
let daemon: {
  incidents: Incident[];
  planned: readonly string[];
  notified: readonly NotifiedIncident[];
  isPolling: boolean;
  isHealthy: boolean;
};
let nowMs: number;
let monotonicMs: number;

beforeEach(async () => {
  webhook = await Webhook.start();
  log = recordLog();
  nowMs = NOW_MS;
  monotonicMs = 0;
  daemon = { incidents: [], planned: [], notified: [], isPolling: true, isHealthy: true };
});

afterEach(() => webhook[Symbol.asyncDispose]());

function incident(count: number, trouble = "reject our key"): Incident {
  return {
    kind: "cause",
    severity: "warning",
    scope: "host",
    subject: "gateway.test",
    since: isoTime(NOW_MS),
    detail: `${count} of 40 targets of host gateway.test ${trouble}`,
    targets: Array.from({ length: count }, (_, index) => `airdrops/subgraph/production/chain${index}`),
  };
}

function report(): Report {
  const all = sampleReport({ incidents: daemon.incidents });
  const planned = daemon.planned.flatMap((key) => all.targets.slice(0, 1).map((one) => ({ ...one, key })));
  const targets = [...all.targets, ...planned.map((one) => ({ ...one, maintenance: true }))];
  return { ...all, targets, generated_at: isoTime(nowMs) };
}

function startNotifier(settings: { readonly heartbeat?: "alone" | "too" } = {}): Notifier {
  const base = configOf(fleetYaml(["multichain"]));
  const notify = { ...NOTIFY, url: webhook.url, headers: HEADERS };
  const heartbeat = { url: webhook.url, headers: {}, everyMs: HEARTBEAT_MS };
  const posts = settings.heartbeat === "alone" ? {} : { notify };
  const config = { ...base, ...posts, ...(settings.heartbeat && { heartbeat }) };
  return new Notifier(
    {
      config,
      get notified() {
        return daemon.notified;
      },
      keepNotified: (notified) => {
        daemon.notified = notified;
      },
      isPolling: () => daemon.isPolling,
      healthy: () => ({ ok: daemon.isHealthy, detail: "" }),
    },
    {
      ...testWorld(base),
      ...{ logger: log.logger, monotonicMs: () => monotonicMs, pageUrl: () => "http://synclag.test" },
    },
    5,
  );
}

/** The events of the first messages, once this number has arrived. */
async function eventsOf(count: number): Promise<readonly unknown[]> {
  return (await webhook.untilReceived(count)).map(({ body }) => body?.["event"]);
}

/** Passes a notifier the report of some minutes later, as the report loop does. */
function passes(notifier: Notifier, minutes: number, incidents: Incident[]): void {
  nowMs += minutes * MINUTE_MS;
  daemon.incidents = incidents;
  notifier.note(report());
}

describe("Notifier", () => {
  it("posts when an incident begins, grows by more than a quarter, changes its trouble and ends", async () => {
    await using notifier = startNotifier();

    passes(notifier, 0, [incident(26)]);
    passes(notifier, 6, [incident(30)]);
    passes(notifier, 1, [incident(33)]);
    passes(notifier, 6, [incident(33, "return no usable answer")]);
    passes(notifier, 6, []);

    const received = await webhook.untilReceived(4);
    expect(received.map(({ body }) => [body?.["event"], body?.["text"]])).toEqual([
      [
        "incident_began",
        "Incident began: 26 of 40 targets of host gateway.test reject our key. Since 03:12:44 UTC. http://synclag.test/",
      ],
      [
        "incident_changed",
        expect.stringMatching(/^Incident changed after 7 min: 33 of 40 .* reject our key\. /),
      ],
      [
        "incident_changed",
        expect.stringMatching(/^Incident changed after 13 min: .* return no usable answer\. /),
      ],
      ["incident_ended", expect.stringMatching(/^Incident ended after 19 min: 33 of 40 /)],
    ]);
    expect(new Set(received.map(({ body }) => body?.["id"])).size).toBe(1);
    expect(received[0]).toMatchObject({
      method: "POST",
      headers: { authorization: HEADERS.Authorization, "content-type": "application/json" },
      body: { version: 1, incident: { scope: "host", subject: "gateway.test", target_count: 26 } },
    });
  });

  it("posts nothing about chains that come and go within an incident", async () => {
    await using notifier = startNotifier();
    passes(notifier, 6, [incident(26, "are lagging on base and form")]);
    passes(notifier, 6, [incident(27, "are lagging on base, form and mode")]);
    passes(notifier, 0, []);

    expect(await eventsOf(2)).toEqual(["incident_began", "incident_ended"]);
  });

  it("reports an incident that flaps at most every five minutes", async () => {
    await using notifier = startNotifier();
    for (let minute = 0; minute < 10; minute += 1) {
      passes(notifier, 1, [incident(26, minute % 2 === 0 ? "reject our key" : "are throttled")]);
    }
    passes(notifier, 0, []);

    expect(await eventsOf(3)).toEqual(["incident_began", "incident_changed", "incident_ended"]);
  });

  it("repeats in order the messages that an unreachable or busy server did not accept, and logs that once", async () => {
    webhook.replies = [503, 429, 500, 200];
    await using notifier = startNotifier();

    passes(notifier, 0, [incident(26)]);
    passes(notifier, 1, []);

    expect(await eventsOf(5)).toEqual([...Array<string>(4).fill("incident_began"), "incident_ended"]);
    expect(log.lines.map(({ msg, detail }) => [msg, detail])).toEqual([
      ["Notification not accepted yet; trying again", "HTTP 503"],
    ]);
  });

  it("does not retry a refused message, and sends the next", async () => {
    webhook.replies = [400, 200];
    await using notifier = startNotifier();

    passes(notifier, 0, [incident(26)]);
    passes(notifier, 1, []);
    await webhook.untilReceived(2);

    expect(notifier.counts).toMatchObject({ failed: 1, dropped: 0 });
    expect(log.lines.map(({ msg }) => msg)).toEqual(["Notification given up"]);
  });

  it("judges a reply that it cannot read by its HTTP status", async () => {
    webhook.headers = { "content-encoding": "gzip" };
    webhook.replies = [200, 404, 500, 200];
    await using notifier = startNotifier();

    passes(notifier, 0, [incident(26)]);
    passes(notifier, 1, []);
    passes(notifier, 1, [incident(26)]);

    expect(await eventsOf(4)).toEqual([
      "incident_began",
      "incident_ended",
      "incident_began",
      "incident_began",
    ]);
    expect(log.lines.map(({ msg, detail }) => [msg, detail])).toEqual([
      ["Notification given up", "HTTP 404"],
      ["Notification not accepted yet; trying again", "HTTP 500"],
    ]);
  });

  it("keeps the last hundred messages while the server is unreachable, and blocks no poll", async () => {
    webhook.replies = [503];
    await using notifier = startNotifier();

    for (let round = 0; round < 120; round += 1) {
      passes(notifier, 1, round % 2 === 0 ? [incident(26)] : []);
      passes(notifier, 1, [{ ...incident(3), subject: `host${round}.test` }]);
    }

    expect(notifier.counts.dropped).toBeGreaterThan(40);
    expect(log.lines.some(({ msg }) => msg === "Notifications dropped: too many wait")).toBe(true);
  });

  it("sends nothing while another replica leads, and repeats nothing after a restart", async () => {
    {
      await using former = startNotifier();
      passes(former, 0, [incident(26)]);
      await webhook.untilReceived(1);
    }
    await using notifier = startNotifier();
    passes(notifier, 0, [incident(26)]);
    daemon.isPolling = false;
    passes(notifier, 1, [incident(26), { ...incident(4), subject: "other.test" }]);
    daemon.isPolling = true;

    passes(notifier, 1, []);

    expect(await eventsOf(2)).toEqual(["incident_began", "incident_ended"]);
  });

  it("does not repeat a message once another replica leads, because that one may have sent a newer one", async () => {
    webhook.replies = [503, 200];
    await using notifier = startNotifier();
    passes(notifier, 0, [incident(26)]);
    await webhook.untilReceived(1);
    daemon.isPolling = false;
    while (notifier.counts.failed + notifier.counts.sent === 0) {
      await turn();
    }
    daemon.isPolling = true;

    passes(notifier, 1, []);

    expect(await eventsOf(2)).toEqual(["incident_began", "incident_ended"]);
  });

  it("posts no beginning of an incident whose targets are all in maintenance, but the end of an earlier one", async () => {
    const one = incident(3);
    await using notifier = startNotifier();

    daemon.planned = one.targets;
    passes(notifier, 0, [one]);
    passes(notifier, 10, [incident(2, "are throttled")]);
    daemon.planned = one.targets.slice(1);
    passes(notifier, 10, [one]);
    daemon.planned = one.targets;
    passes(notifier, 10, [incident(3, "are throttled")]);
    passes(notifier, 10, []);

    const received = await webhook.untilReceived(2);
    expect(received.map(({ body }) => body?.["text"])).toEqual([
      "Incident began: 3 of 40 targets of host gateway.test reject our key. Since 03:12:44 UTC. http://synclag.test/",
      "Incident ended after 40 min: 3 of 40 targets of host gateway.test reject our key. http://synclag.test/",
    ]);
  });

  it("names a hundred targets at most, and counts them all", async () => {
    await using notifier = startNotifier();

    passes(notifier, 0, [incident(5_000)]);

    const [first] = await webhook.untilReceived(1);
    expect(first?.body?.["incident"]).toMatchObject({ target_count: 5_000, targets: { length: 100 } });
  });

  it("pings the heartbeat at its interval while polls make progress", async () => {
    useFakeIntervals();
    await using _notifier = startNotifier({ heartbeat: "alone" });
    const untilPinged = async (count: number): Promise<void> => {
      while (webhook.received.length < count) {
        passSeconds(1);
        await turn();
      }
    };

    await untilPinged(1);
    const firstMs = monotonicMs;
    await untilPinged(2);

    expect(monotonicMs - firstMs).toBeGreaterThanOrEqual(HEARTBEAT_MS);
    expect(webhook.received[0]).toMatchObject({ method: "GET", body: null });
    for (const trouble of [{ isHealthy: false }, { isPolling: false }]) {
      Object.assign(daemon, trouble);
      for (let minute = 0; minute < 20; minute += 1) {
        passSeconds(60);
        await turn();
      }
      Object.assign(daemon, { isHealthy: true, isPolling: true });
    }
    expect(webhook.received).toHaveLength(2);
    await untilPinged(3);
    expect(webhook.received).toHaveLength(3);
  });

  it("pings the heartbeat while a message to the same host hangs", async () => {
    useFakeIntervals();
    webhook.replies = [0, 200];
    await using notifier = startNotifier({ heartbeat: "too" });

    passes(notifier, 0, [incident(26)]);
    await webhook.untilReceived(1, "POST");
    passSeconds(60);

    expect(await webhook.untilReceived(1, "GET")).toHaveLength(1);
  });

  it("logs each change of the reply to its pings, and stops pinging when it is stopped", async () => {
    useFakeIntervals();
    webhook.replies = [200, 500, 500, 204];
    const notifier = startNotifier({ heartbeat: "alone" });

    while (log.lines.length < 2) {
      passSeconds(1);
      await turn();
    }
    await notifier[Symbol.asyncDispose]();

    expect(log.lines.map(({ level, msg, detail }) => [level, msg, detail])).toEqual([
      [40, "Heartbeat ping failed", "HTTP 500"],
      [30, "Heartbeat ping accepted", "HTTP 204"],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function useFakeIntervals(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

function passSeconds(count: number): void {
  for (let second = 0; second < count; second += 1) {
    monotonicMs += 1_000;
    vi.advanceTimersByTime(1_000);
  }
}
