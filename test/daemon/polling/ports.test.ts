import { describe, expect, it } from "vitest";
import { Budgets } from "../../../src/budgets/budgets.ts";
import type { Exchange } from "../../../src/core/model/exchange.ts";
import type { Fleet } from "../../../src/core/model/fleet.ts";
import { PollCounters } from "../../../src/daemon/polling/counters.ts";
import { ExchangeLog } from "../../../src/daemon/polling/exchange-log.ts";
import { createPollPorts } from "../../../src/daemon/polling/ports.ts";
import { createFileGate } from "../../../src/daemon/state/file-gate.ts";
import { endpointOf } from "../../support/endpoints.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { worldOf } from "../../support/world-of.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const ENDPOINT = endpointOf({ budget: "studio" });
const { protocol, variant, tier } = ENDPOINT;
const FLEET: Fleet = {
  chains: [],
  indexers: [{ protocol, variant, tier, endpoints: [ENDPOINT] }],
  rpcEndpoints: [],
  budgets: [{ name: "studio", limit: 3_000, per: "day", scope: "endpoint" }],
  skipped: [],
  parity: [],
};

const EXCHANGE: Exchange = {
  sentAtMs: NOW_MS,
  receivedAtMs: NOW_MS + 40,
  asked: "{}",
  httpStatus: 200,
  outcome: "usable",
  text: "{}",
};

describe("createPollPorts()", () => {
  it("counts against the endpoint's budget", async () => {
    const { ports, budgets } = setUp();

    expect(await ports.acquire(ENDPOINT, "scheduled")).toMatchObject({ kind: "granted" });

    expect(budgets.report(NOW_MS)).toMatchObject([{ used: 1 }]);
  });

  it("sends nothing that it could not record, and acquires nothing while nothing can be recorded", async () => {
    const failing = setUp({ ...WRITABLE, flush: () => Promise.reject(new Error("disk full")) });
    const failed = setUp({ ...WRITABLE, problem: () => "disk full" });

    const first = await failing.ports.acquire(ENDPOINT, "scheduled");
    const second = await failed.ports.acquire(ENDPOINT, "scheduled");

    const refused = { kind: "refused", detail: expect.stringContaining("disk full") };
    expect([first, second]).toMatchObject([refused, refused]);
    expect(failed.budgets.report(NOW_MS)).toMatchObject([{ used: 0 }]);
  });

  it("does not wait for the disk without a budget", async () => {
    const { ports } = setUp({ ...WRITABLE, problem: () => "disk full" });

    expect(await ports.acquire({ ...ENDPOINT, budget: null }, "scheduled")).toMatchObject({
      kind: "granted",
    });
  });

  it.each([
    { retryAfterMs: 90_000, thenMs: 91_000 },
    { retryAfterMs: null, thenMs: 31_000 },
  ])("backs off for $retryAfterMs ms, and acquires again after", async ({ retryAfterMs, thenMs }) => {
    const { ports, clock } = setUp();

    ports.backOff(ENDPOINT, retryAfterMs);
    const during = await ports.acquire(ENDPOINT, "scheduled");
    clock.nowMs += thenMs;
    const after = await ports.acquire(ENDPOINT, "scheduled");

    expect([during.kind, after.kind]).toEqual(["refused", "granted"]);
  });

  it("counts a request and measures it", () => {
    const { ports, counters } = setUp();

    ports.onRequest(ENDPOINT, EXCHANGE);

    expect(counters.endpoints()).toMatchObject([{ requests: 1 }]);
    expect(counters.durations()).toMatchObject([
      { counts: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], sumSeconds: 0.04 },
    ]);
  });

  it("counts a failure by its reason, and logs it at debug level without the key", () => {
    const { ports, counters, lines } = setUp();

    ports.onFailure(ENDPOINT, { reason: "unauthorized", detail: "bad key hunter22" });

    expect(counters.endpoints()).toMatchObject([{ requests: 0, failures: { unauthorized: 1 } }]);
    expect(lines).toEqual([
      {
        level: 20,
        endpoint: ENDPOINT.key,
        reason: "unauthorized",
        detail: "bad key [secret]",
        msg: "Poll failed",
      },
    ]);
  });

  it("sleeps as long as it is told, unless it is stopped before or meanwhile", async () => {
    const { ports, stopping } = setUp();

    const slept = await ports.sleep(1);
    const waiting = ports.sleep(3_600_000);
    stopping.abort();

    expect([slept, await waiting, await ports.sleep(3_600_000)]).toEqual(["done", "stopped", "stopped"]);
  });
});

interface StateFile {
  /** Why nothing can be recorded in it, or null. */
  readonly problem: () => string | null;
  readonly flush: () => Promise<void>;
  readonly touchJournal: () => void;
}

const WRITABLE: StateFile = {
  problem: () => null,
  flush: () => Promise.resolve(),
  touchJournal: () => undefined,
};

function setUp(store = WRITABLE) {
  const clock = { nowMs: NOW_MS };
  const stopping = new AbortController();
  const budgets = new Budgets(FLEET);
  const counters = new PollCounters();
  counters.watch(FLEET);
  const { logger, lines } = recordLog();
  const ports = createPollPorts(
    {
      poll: { concurrency: 1, perHost: 1, timeoutMs: 1, retries: 1, maxResponseBytes: 1 },
      secrets: ["hunter22"],
    },
    {
      world: worldOf({ nowMs: () => clock.nowMs, logger }),
      post: () => Promise.reject(new Error("not sent here")),
      stopping: stopping.signal,
      gate: createFileGate({ budgets, nowMs: () => clock.nowMs, store, random: () => 0 }),
      counters,
      exchangeLog: new ExchangeLog(),
    },
  );
  return { ports, clock, stopping, budgets, counters, lines };
}
