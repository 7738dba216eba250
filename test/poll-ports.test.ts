import { describe, expect, it } from "vitest";
import type { Exchange } from "../src/core/exchange.ts";
import type { Fleet } from "../src/core/fleet.ts";
import { Journal } from "../src/journal.ts";
import { createPollPorts } from "../src/poll-ports.ts";
import { Budgets } from "../src/schedule/budgets.ts";
import { Tally } from "../src/tally.ts";
import { endpointOf } from "./support/endpoints.ts";
import { recordLog } from "./support/log-recorder.ts";

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

function setUp() {
  const clock = { nowMs: NOW_MS };
  const stopping = new AbortController();
  const budgets = new Budgets(FLEET);
  const tally = new Tally();
  tally.watch(FLEET);
  const durations: number[] = [];
  const { logger, lines } = recordLog();
  const ports = createPollPorts(
    {
      poll: { concurrency: 1, perHost: 1, timeoutMs: 1, retries: 1, maxResponseBytes: 1 },
      secrets: ["hunter22"],
    },
    {
      world: {
        nowMs: () => clock.nowMs,
        monotonicMs: () => clock.nowMs,
        random: () => 0,
        logger,
        loadConfig: () => {
          throw new Error("not read here");
        },
        onBug: () => undefined,
        build: { version: "0", revision: "", nodeVersion: "" },
        isLifecycleEnabled: false,
      },
      post: () => Promise.reject(new Error("not sent here")),
      stopping: stopping.signal,
      budgets,
      tally,
      journal: new Journal(),
      observeDuration: (_labels, durationMs) => durations.push(durationMs),
    },
  );
  return { ports, clock, stopping, budgets, tally, durations, lines };
}
