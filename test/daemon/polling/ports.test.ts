import { describe, expect, it } from "vitest";
import { Budgets } from "../../../src/budgets/budgets.ts";
import type { Exchange } from "../../../src/core/model/exchange.ts";
import type { Fleet } from "../../../src/core/model/fleet.ts";
import { PollCounters } from "../../../src/daemon/polling/counters.ts";
import { ExchangeLog } from "../../../src/daemon/polling/exchange-log.ts";
import { createPollPorts } from "../../../src/daemon/polling/ports.ts";
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
  it("draws on the endpoint's budget", async () => {
    const { ports, budgets } = setUp();

    expect(await ports.draw(ENDPOINT, "poll")).toMatchObject({ kind: "drawn" });

    expect(budgets.report(NOW_MS)).toMatchObject([{ used: 1 }]);
  });

  it("sends nothing that it could not record, and draws nothing for what it knows it can't", async () => {
    const failing = setUp({ problem: () => null, recorded: () => Promise.reject(new Error("disk full")) });
    const failed = setUp({ ...WRITABLE, problem: () => "disk full" });

    const first = await failing.ports.draw(ENDPOINT, "poll");
    const second = await failed.ports.draw(ENDPOINT, "poll");

    const refused = { kind: "refused", detail: expect.stringContaining("disk full") };
    expect([first, second]).toMatchObject([refused, refused]);
    expect(failed.budgets.report(NOW_MS)).toMatchObject([{ used: 0 }]);
  });

  it("waits for no disk where there is no budget", async () => {
    const { ports } = setUp({ ...WRITABLE, problem: () => "disk full" });

    expect(await ports.draw({ ...ENDPOINT, budget: null }, "poll")).toMatchObject({ kind: "drawn" });
  });

  it.each([
    { retryAfterMs: 90_000, thenMs: 91_000 },
    { retryAfterMs: null, thenMs: 31_000 },
  ])(
    "leaves a provider alone for $retryAfterMs ms, and draws again after",
    async ({ retryAfterMs, thenMs }) => {
      const { ports, clock } = setUp();

      ports.backOff(ENDPOINT, retryAfterMs);
      const during = await ports.draw(ENDPOINT, "poll");
      clock.nowMs += thenMs;
      const after = await ports.draw(ENDPOINT, "poll");

      expect([during.kind, after.kind]).toEqual(["refused", "drawn"]);
    },
  );

  it("counts a request and measures it", () => {
    const { ports, tally, durations } = setUp();

    ports.onRequest(ENDPOINT, EXCHANGE);

    expect(tally.endpoints()).toMatchObject([{ requests: 1 }]);
    expect(durations).toEqual([40]);
  });

  it("counts a failure by its reason, and logs it where someone looks closely, without the key", () => {
    const { ports, tally, lines } = setUp();

    ports.onFailure(ENDPOINT, { reason: "unauthorized", detail: "bad key hunter22" });

    expect(tally.endpoints()).toMatchObject([{ requests: 0, failures: { unauthorized: 1 } }]);
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
  readonly recorded: () => Promise<void>;
}

const WRITABLE: StateFile = { problem: () => null, recorded: () => Promise.resolve() };

function setUp(keeper = WRITABLE) {
  const clock = { nowMs: NOW_MS };
  const stopping = new AbortController();
  const budgets = new Budgets(FLEET);
  const tally = new PollCounters();
  tally.watch(FLEET);
  const durations: number[] = [];
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
      budgets,
      budgetNowMs: () => clock.nowMs,
      keeper,
      tally,
      journal: new ExchangeLog(),
      observeDuration: (_labels, durationMs) => durations.push(durationMs),
    },
  );
  return { ports, clock, stopping, budgets, tally, durations, lines };
}
