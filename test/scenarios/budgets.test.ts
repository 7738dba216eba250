import { describe, expect, it } from "vitest";
import { FAULTS, halfOf, times } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const BASE = "airdrops/subgraph/production/base";
const MODE = "airdrops/subgraph/production/mode";
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function chainsYaml({
  limit = 3_000,
  per = "day",
  scope = "endpoint",
  schedule = "0 * * * * *",
  poll = "retries: 1",
}): string {
  return `
version: 1
poll: { ${poll} }
budgets: { plan: { limit: ${limit}, per: ${per}, scope: ${scope} } }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", budget: plan, schedule: "${schedule}", chains: [base, mode] }
    - { variant: multichain, dialect: squid, url: "https://{chain}.example/", schedule: "0 * * * * *", chains: [base, mode] }
`;
}

/** In one hour each endpoint is polled 60 times, and 62.5 polls count in the window of an hour. */
const TIGHT = { limit: 60, per: "hour" };

describe("a budget", () => {
  it.each([
    { scope: "endpoint", most: 60 },
    { scope: "shared", most: 120 },
  ])("of scope $scope is never exceeded, though every poll is retried", async ({ scope, most }) => {
    await using play = await startScenario(chainsYaml({ ...TIGHT, limit: most, scope }));
    for (const endpoint of play.fleet.endpoints("airdrops/subgraph/*/*")) {
      endpoint.fail(halfOf(FAULTS.http_502));
    }

    await play.run("66m");

    const accounts = scope === "shared" ? [[BASE, MODE]] : [[BASE], [MODE]];
    for (const account of accounts) {
      const count = mostWithin(play, account, HOUR_MS);
      expect(count).toBeLessThanOrEqual(most);
      expect(count).toBeGreaterThan(most * 0.9);
    }
  });

  it("spends on retries and confirmation polls only what the schedule leaves", async () => {
    await using play = await startScenario(chainsYaml({ limit: 80, per: "hour" }));
    await play.run("10m");
    play.fleet.endpoint(BASE).fail(FAULTS.http_502);

    await play.run("45m");

    const minutes = play.received
      .filter(({ endpoint, atMs }) => endpoint === BASE && atMs > 10 * MINUTE_MS)
      .map(({ atMs }) => Math.floor(atMs / MINUTE_MS));
    expect(minutes.length).toBeGreaterThan(50);
    // No scheduled poll was left out for them.
    expect(new Set(minutes).size).toBe(45);
    // A retry that the budget refused is not why the poll failed.
    expect(play.target(BASE)).toMatchObject({ status: "unreachable", reason: "http_status" });
  });

  it("that is spent pauses only its endpoint: throttled, with reason and next time, on every output", async () => {
    await using play = await startScenario(chainsYaml({ ...TIGHT, limit: 61 }));
    await play.run("30m");
    await play.reload(chainsYaml({ ...TIGHT, limit: 30, schedule: "0 */2 * * * *" }));
    await play.run("10m");

    const target = play.target(BASE);
    expect(target).toMatchObject({
      status: "throttled",
      reason: "budget",
      detail: expect.stringMatching(/not sent: budget plan: 3\d of 30 an hour used, next at 04:0\d UTC/),
    });
    expect(play.status().targets.filter(({ status }) => status === "ok")).toHaveLength(2);
    expect(play.page("base")).toContain("not sent: budget plan");
    expect(play.check().text).toContain("throttled");
    expect(play.metric(budgetSeries("remaining", "base"))).toBe(0);
    expect(play.metric(budgetSeries("limit", "base"))).toBe(30);
    expect(play.metric(budgetSeries("used", "base"))).toBeGreaterThanOrEqual(30);
    expect(failuresOf(play, "budget")).toBe(5);

    await play.run("40m");

    expect(play.target(BASE)).toMatchObject({ status: "ok", reason: null });
  });

  it("sends nothing while usage cannot be recorded, and reports it", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("3m");
    play.setDisk("is full");
    const asked = play.fleet.endpoint(BASE).requestCount;

    await play.run("5m");

    expect(play.fleet.endpoint(BASE).requestCount).toBe(asked);
    expect(play.target(BASE)).toMatchObject({
      status: "throttled",
      detail: expect.stringContaining("cannot record budget usage: the disk is full"),
    });
    expect(play.status().targets.filter(({ status }) => status === "ok")).toHaveLength(2);
    play.setDisk("works");
    await play.run("3m");
    expect(play.target(BASE).status).toBe("ok");
  });
});

describe("a provider that asks to wait", () => {
  it.each([
    // Three quarters of 30 s.
    { asks: "no time", retryAfter: null, waitMs: 22_500, next: "03:05" },
    { asks: "90 s", retryAfter: "90", waitMs: 90_000, next: "03:06" },
  ])(
    "with $asks is sent nothing before, then one request, then all",
    async ({ retryAfter, waitMs, next }) => {
      await using play = await startScenario(
        chainsYaml({ scope: "shared", schedule: "*/15 * * * * *", limit: 90_000 }),
      );
      await play.run("295s");
      refuse(play, retryAfter);
      await play.run("30s");
      const first = play.received.filter(({ endpoint }) => endpoint === BASE || endpoint === MODE).at(-1);
      const target = play.target(BASE);
      const failures = failuresOf(play, "rate_limited");
      for (const endpoint of play.fleet.endpoints("airdrops/subgraph/*/*")) {
        endpoint.heal();
      }

      await play.run("3m");

      expect(target).toMatchObject({ status: "throttled", reason: "rate_limited" });
      expect(target.detail).toContain(`rate-limited by provider at 03:05 UTC, next attempt ${next} UTC`);
      // What was held back after the refusal is no failure of its own.
      expect(failures).toBe(1);
      const after = play.received.filter(
        ({ endpoint, atMs }) => (endpoint === BASE || endpoint === MODE) && atMs > (first?.atMs ?? 0),
      );
      expect(after[0]?.atMs).toBeGreaterThanOrEqual((first?.endMs ?? 0) + waitMs);
      expect(after[1]?.atMs).toBeGreaterThanOrEqual(after[0]?.endMs ?? 0);
      expect(after.length).toBeGreaterThan(10);
      expect(play.target(BASE).status).toBe("ok");
    },
  );

  it("again and again is asked less and less often", async () => {
    await using play = await startScenario(chainsYaml({ schedule: "*/15 * * * * *", limit: 90_000 }));
    await play.run("295s");
    play.fleet.endpoint(BASE).fail(FAULTS.http_429);

    await play.run("55m");

    const times = play.received
      .filter(({ endpoint, atMs }) => endpoint === BASE && atMs > 295_000)
      .map(({ atMs }) => atMs);
    const pauses = times.slice(1).map((atMs, index) => Math.round((atMs - (times[index] ?? 0)) / MINUTE_MS));
    // Three quarters of 30 s, 1, 2, 4 … min: a random share up to a half is taken off. Then the next scheduled poll.
    expect(pauses).toEqual([1, 1, 2, 3, 6, 12, 24]);
  });

  it("with a 503 is believed too, and the poll not retried", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("295s");
    const headers = { "retry-after": new Date(Date.now() + 5 * MINUTE_MS).toUTCString() };
    play.fleet.endpoint(BASE).fail(times(1, { status: 503, headers, body: "busy" }));

    await play.run("10m");

    const minutes = play.received
      .filter(({ endpoint, atMs }) => endpoint === BASE && atMs > 295_000)
      .map(({ atMs }) => Math.floor(atMs / MINUTE_MS));
    expect(minutes.slice(0, 2)).toEqual([5, 10]);
  });

  it("stops only its own endpoint without a budget, and is retried at once after a reload", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("295s");
    const refusal = { status: 429, headers: { "retry-after": "3600" }, body: "" };
    play.fleet.endpoint("airdrops/multichain/production/base").fail(times(1, refusal));
    await play.run("10m");
    const during = play.target("airdrops/multichain/production/base");

    await play.reload(chainsYaml({}));
    await play.run("2m");

    expect(during).toMatchObject({ status: "throttled", reason: "rate_limited" });
    expect(play.target("airdrops/multichain/production/mode").status).toBe("ok");
    expect(play.target("airdrops/multichain/production/base").status).toBe("ok");
  });
});

function refuse(play: Scenario, retryAfter: string | null): void {
  const headers = retryAfter === null ? {} : { "retry-after": retryAfter };
  play.fleet.endpoint(BASE).fail({ status: 429, headers, body: "Too many requests" });
}

function budgetSeries(name: string, endpoint: string): string {
  return `synclag_budget_${name}{budget="plan",protocol="airdrops",variant="subgraph",tier="production",endpoint="${endpoint}"}`;
}

function failuresOf(play: Scenario, reason: string): number | undefined {
  return play.metric(
    `synclag_poll_failures_total{protocol="airdrops",variant="subgraph",tier="production",endpoint="base",reason="${reason}"}`,
  );
}

/** The most requests to these endpoints that any window of this length has. */
function mostWithin({ received }: Scenario, endpoints: readonly string[], windowMs: number): number {
  const times = received.filter(({ endpoint }) => endpoints.includes(endpoint)).map(({ atMs }) => atMs);
  let first = 0;
  return Math.max(
    ...times.map((atMs, index) => {
      while ((times[first] ?? 0) <= atMs - windowMs) {
        first += 1;
      }
      return index - first + 1;
    }),
  );
}

describe("a paid RPC node", () => {
  const PAID = "https://paid.example/base";
  const OTHER = "https://other.example/base";
  const CHAINS_YAML = `
version: 1
poll: { retries: 0 }
budgets: { nodes: { limit: 100, per: hour, scope: endpoint } }
chains:
  base:
    id: 8453
    block_time: 2s
    rpc:
      - { url: "${PAID}", headers: { X-Key: "\${NODE_KEY}" }, budget: nodes, schedule: auto }
      - { url: "${OTHER}", budget: nodes, schedule: "0 */5 * * * *" }
      - "https://free.example/base"
protocols:
  airdrops:
    - { variant: first, dialect: graph, url: "https://first.example/", schedule: "0 * * * * *", chains: [base] }
    - { variant: second, dialect: graph, url: "https://second.example/", schedule: "0 * * * * *", chains: [base] }
`;
  const NODE_KEY = "paid-key-of-the-node";
  const keyOf = (host: string): unknown => expect.stringMatching(`^rpc/base/${host}.example/[0-9a-f]{12}$`);

  it("is planned, and counts every request, including those for the chain id and for disputed blocks", async () => {
    await using play = await startScenario(CHAINS_YAML, { env: { NODE_KEY } });
    await play.run("10m");
    play.fleet.target("airdrops/second/production/base").set({ fork: "other" });
    play.setHost("free.example", "down");
    await play.run("20m");

    const toNodes = play.received.filter(({ endpoint }) => endpoint.startsWith("rpc/base/"));
    const sentTo = (host: string) => toNodes.filter(({ endpoint }) => endpoint.includes(host));
    expect(play.plan().replace(/ +/g, " ")).toContain(
      "rpc 1 60 s 1,440 60% of nodes each 3 min\nrpc 1 5 min 288 12% of nodes each 15 min\nrpc 1 30 s 2,880 none 100 s",
    );
    expect(play.planPage()).toMatch(/rpc\/ base\/ paid\.example\/ \w+ nodes, 100 an hour 32 68/);
    expect(play.report().budgets).toMatchObject([
      { endpoint: keyOf("paid"), used: sentTo("paid").length },
      { endpoint: keyOf("other"), used: sentTo("other").length },
    ]);
    const beside = [...sentTo("paid"), ...sentTo("other")].filter(({ body }) => !body.includes("latest"));
    const methods = new Set(beside.map(({ body }) => /eth_\w+/.exec(body)?.[0]));
    expect([...methods].sort()).toEqual(["eth_chainId", "eth_getBlockByNumber"]);
    // Both nodes have the labels of their chain: what counts is the fuller account.
    const series = 'budget="nodes",protocol="",variant="rpc",tier="",endpoint="base"';
    const budgetLines = play.metrics().match(/^synclag_budget_used\{.*$/gm);
    expect(budgetLines).toEqual([`synclag_budget_used{${series}} ${sentTo("paid").length}`]);
  });

  it("is sent its own headers alone, which nothing shows", async () => {
    await using play = await startScenario(CHAINS_YAML, {
      env: { NODE_KEY },
      prepare: (fleet) =>
        fleet.endpoint("rpc/base/paid.example/*").fail({ status: 403, body: `no such key: ${NODE_KEY}` }),
    });
    await play.run("5m");

    const withKey = play.received.filter(({ headers }) => Object.values(headers).includes(NODE_KEY));
    expect([...new Set(withKey.map(({ endpoint }) => endpoint))]).toEqual([keyOf("paid")]);
    expect(play.page("base")).toContain("no such key: ");
    expect(play.page("base")).toContain("$NODE_KEY");
    const shown = [play.page("base"), play.planPage(), play.plan("json"), play.metrics()];
    const said = [...shown, JSON.stringify(play.status()), JSON.stringify(play.log)];
    expect(said.filter((text) => text.includes(NODE_KEY))).toEqual([]);
  });
});
