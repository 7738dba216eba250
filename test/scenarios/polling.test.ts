import { describe, expect, it } from "vitest";
import { FAULTS, type FaultName, times } from "../support/faults.ts";
import { type ReceivedRequest, type Scenario, startScenario } from "../support/scenario.ts";

const MULTICHAIN = "airdrops/multichain/production/all";
const SUBGRAPH = "airdrops/subgraph/production/base";
const RPC = "rpc/base/node.example/dd456f637b9f";
const FAILURES = 'synclag_poll_failures_total{protocol="airdrops",variant="subgraph",tier="production"';

/** What providers see of the polls: requests with their times. */
describe("the polls of a round", () => {
  const FLEET = `
version: 1
poll: { rpc_schedule: "*/30 * * * * *" }
chains:
  base: { id: 8453, block_time: 2s, rpc: ["https://node.example/base"] }
  mode: { id: 34443, block_time: 2s }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/airdrops", schedule: "*/15 * * * * *", chains: [base, mode] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/airdrops/{chain}", schedule: "*/30 * * * * *", chains: [base, mode] }
  lockup:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/lockup/{chain}", schedule: "0 * * * * *", chains: [base, mode] }
`;

  it("are sent at the start once to each endpoint, chain by chain, and then as the schedules say", async () => {
    await using play = await startScenario(FLEET, { at: "2026-11-20T03:00:05Z" });

    await play.run("2m");

    expect(play.received.slice(0, 6).map(({ endpoint }) => endpoint)).toEqual([
      "airdrops/subgraph/production/base",
      "lockup/subgraph/production/base",
      RPC,
      MULTICHAIN,
      "airdrops/subgraph/production/mode",
      "lockup/subgraph/production/mode",
    ]);
    // Its version does not know the first query.
    expect(secondsOf(sentTo(play, MULTICHAIN))).toEqual([0, 0, 10, 25, 40, 55, 70, 85, 100, 115]);
    expect(secondsOf(sentTo(play, SUBGRAPH))).toEqual([0, 25, 55, 85, 115]);
    // Before the first block it is asked for its chain.
    expect(secondsOf(sentTo(play, RPC))).toEqual([0, 0, 25, 55, 85, 115]);
    expect(secondsOf(sentTo(play, "lockup/subgraph/production/mode"))).toEqual([0, 55, 115]);
    expect(
      play.metric(
        'synclag_polls_total{protocol="airdrops",variant="multichain",tier="production",endpoint="all"}',
      ),
    ).toBe(10);
  });

  it("are sent again as the schedules say after the process has stood still, and not made up for", async () => {
    await using play = await startScenario(FLEET, { at: "2026-11-20T03:00:05Z" });
    await play.run("1m");

    play.stall("1h");
    const stuck = play.healthy();
    await play.run("20s");

    expect(stuck).toEqual({ ok: false, detail: expect.stringContaining("has not ticked for 3") });
    expect(play.healthy().ok).toBe(true);
    expect(secondsOf(sentTo(play, MULTICHAIN).filter(({ atMs }) => atMs >= 60_000))).toEqual([61, 70]);
  });
});

describe("an endpoint with a running poll", () => {
  it("is not polled again, which is counted as a skipped round", async () => {
    await using play = await startScenario(
      oneSubgraph({ schedule: "*/5 * * * * *", poll: "timeout: 12s, retries: 0" }),
    );
    await play.run("7s");
    play.fleet.endpoint(SUBGRAPH).fail(FAULTS.hang_before_headers);

    await play.run("33s");

    expect(secondsOf(sentTo(play, SUBGRAPH))).toEqual([0, 5, 10, 23, 37]);
    expect(
      play.metric('synclag_rounds_skipped_total{protocol="airdrops",variant="subgraph",tier="production"}'),
    ).toBe(6);
    expect(play.metric("synclag_polls_in_flight")).toBe(1);
  });
});

describe("a host with many endpoints", () => {
  const SLUGS = Array.from({ length: 24 }, (_, index) => `chain-${index}`);
  const FLEET = `
version: 1
poll: { concurrency: 8, per_host: 3, timeout: 10s, retries: 0 }
chains: { ${SLUGS.map((slug, index) => `${slug}: { id: ${1_000 + index}, block_time: 2s }`).join(", ")} }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "0 * * * * *", chains: [${SLUGS.join(", ")}] }
    - { variant: squid, dialect: squid, url: "https://{chain}.squid.example/", schedule: "0 * * * * *", chains: [${SLUGS.join(", ")}] }
`;
  const slow = { behaviour: { latency: { minMs: 900, maxMs: 1_000 } } };

  it("is asked no more at once than it may be, nor are all hosts together, and each endpoint is polled", async () => {
    await using play = await startScenario(FLEET, { endpoints: (spec) => ({ ...spec, ...slow }) });

    await play.run("30s");

    expect(mostAtOnce(play.received)).toBe(8);
    expect(mostAtOnce(play.received.filter(({ endpoint }) => endpoint.includes("subgraph")))).toBe(3);
    expect(new Set(play.received.map(({ endpoint }) => endpoint)).size).toBe(48);
    expect(play.received).toHaveLength(48);
    // 24 polls of the host, three at a time.
    expect(Math.max(...play.received.map(({ endMs }) => endMs))).toBeLessThan(10_000);
  });

  it("delays no other host when it hangs", async () => {
    await using play = await startScenario(FLEET);
    await play.run("30s");
    for (const endpoint of play.fleet.endpoints("airdrops/subgraph/*/*")) {
      endpoint.fail(FAULTS.hang_before_headers);
    }

    await play.run("5m");

    const others = play.received.filter(({ endpoint }) => endpoint.includes("squid"));
    const late = others.filter(({ atMs }) => atMs > 30_000 && atMs % 60_000 > 3_000);
    expect(late).toEqual([]);
    expect(others).toHaveLength(24 * 6);
    expect(mostAtOnce(play.received)).toBeLessThanOrEqual(8);
  });
});

describe("several hosts that hang", () => {
  it("delay the others by no more than what they have under way", async () => {
    const slugs = Array.from({ length: 8 }, (_, index) => `chain-${index}`);
    const indexers = ["slow-1", "slow-2", "fast"].map(
      (host) =>
        `    - { variant: ${host}, dialect: graph, url: "https://${host}.example/{chain}", schedule: "0 * * * * *", chains: [${slugs.join(", ")}] }`,
    );
    await using play = await startScenario(`
version: 1
poll: { concurrency: 4, per_host: 2, timeout: 10s, retries: 0 }
chains: { ${slugs.map((slug, index) => `${slug}: { id: ${1_000 + index}, block_time: 2s }`).join(", ")} }
protocols:
  airdrops:
${indexers.join("\n")}
`);
    await play.run("50s");
    for (const endpoint of play.fleet.endpoints("airdrops/*/*/*").filter(({ key }) => key.includes("slow"))) {
      endpoint.fail(FAULTS.hang_before_headers);
    }
    await play.run("1m");

    const others = play.received.filter(({ endpoint, atMs }) => endpoint.includes("fast") && atMs >= 60_000);
    expect(others).toHaveLength(8);
    expect(Math.max(...others.map(({ atMs }) => atMs))).toBeLessThan(60_000 + 10_000 + 5_000);
  });
});

describe("confirmation polls", () => {
  it.each([
    { every: "10 min", schedule: "0 */10 * * * *", seconds: [600, 661, 722, 1_200, 1_800] },
    { every: "minute", schedule: "0 * * * * *", seconds: [600, 616, 632, 660, 720] },
  ])(
    "confirm a fault of an endpoint of every $every within two more polls",
    async ({ schedule, seconds }) => {
      await using play = await startScenario(oneSubgraph({ schedule }));
      await play.run("595s");
      play.fleet.endpoint(SUBGRAPH).fail(FAULTS.http_404);

      await play.run("25m");

      const after = secondsOf(sentTo(play, SUBGRAPH)).filter((second) => second >= 600);
      expect(after.slice(0, 5)).toEqual(seconds);
    },
  );

  it("are no more than two between two scheduled polls, however often the target changes", async () => {
    await using play = await startScenario(oneSubgraph({ schedule: "0 */10 * * * *" }));
    await play.run("595s");

    for (let minute = 0; minute < 10; minute += 1) {
      play.fleet.endpoint(SUBGRAPH).fail(minute % 2 === 0 ? FAULTS.http_404 : FAULTS.http_401);
      await play.run("1m");
    }

    expect(secondsOf(sentTo(play, SUBGRAPH)).filter((second) => second >= 600)).toHaveLength(3);
  });
});

describe("a poll that fails", () => {
  const RETRIED: readonly FaultName[] = [
    "hang_before_headers",
    "reset_before_headers",
    "reset_within_body",
    "http_500",
    "http_502",
    "no_indexers",
    "gateway_fault",
    "html_with_200",
    "empty",
  ];
  const FINAL: readonly FaultName[] = [
    "http_401",
    "http_402",
    "http_403",
    "http_404",
    "http_429",
    "http_429_retry_after",
    "unknown_key",
    "spend_limit",
    "subgraph_not_found",
    "rate_limit_text",
    "indexing_error",
    "meta_null",
  ];

  it("is retried after 150 ms only if that may help", async () => {
    const pauses: Record<string, number | null> = {};
    for (const fault of [...RETRIED, ...FINAL]) {
      await using play = await startScenario(oneSubgraph({ schedule: "0 * * * * *" }));
      await play.run("50s");
      play.fleet.endpoint(SUBGRAPH).fail(times(1, FAULTS[fault]));

      await play.run("22s");

      const [first, second] = sentTo(play, SUBGRAPH).slice(1);
      pauses[fault] = second === undefined ? null : second.atMs - (first?.endMs ?? 0);
      expect(play.target(SUBGRAPH).up).toBe(second !== undefined);
    }

    expect(pauses).toEqual(
      Object.fromEntries([...RETRIED.map((fault) => [fault, 150]), ...FINAL.map((fault) => [fault, null])]),
    );
  });

  it.each([0, 1, 2])(
    "is tried again %i times where `retries` says so, each failure counted",
    async (retries) => {
      await using play = await startScenario(oneSubgraph({ poll: `retries: ${retries}` }));
      await play.run("50s");
      play.fleet.endpoint(SUBGRAPH).fail(FAULTS.http_500);

      await play.run("12s");

      expect(sentTo(play, SUBGRAPH)).toHaveLength(2 + retries);
      expect(play.metric(`${FAILURES},endpoint="base",reason="http_status"}`)).toBe(1 + retries);
      expect(play.log.filter(({ msg }) => msg === "Poll failed")).toHaveLength(1 + retries);
    },
  );
});

describe("a stop", () => {
  it.each([
    // The server has failed once before.
    { during: "the pause before a retry", fault: "http_500", up: false },
    { during: "a poll that hangs", fault: "hang_before_headers", up: true },
  ] as const)("in $during sends nothing more, and blames no target for it", async ({ fault, up }) => {
    await using play = await startScenario(oneSubgraph({}));
    play.fleet.endpoint(SUBGRAPH).set({ latency: { minMs: 100, maxMs: 100 } });
    await play.run("299s");
    play.fleet.endpoint(SUBGRAPH).fail(FAULTS[fault]);
    // A poll begins at the full minute, and a retry follows 150 ms after its end.
    await play.run("1200ms");
    const sent = play.received.length;

    await play.restart({ state: "kept", after: "10s" });
    await play.run("10s");

    expect(play.received).toHaveLength(sent);
    expect(play.target(SUBGRAPH)).toMatchObject({ status: "ok", up });
  });
});

describe("the query of an endpoint", () => {
  const TIMED = "{ _meta { chainId progressBlock progressBlockTime } }";
  const PLAIN = "{ _meta { chainId progressBlock } }";
  const OLD = "{ chain_metadata { chain_id latest_processed_block } }";

  it.each([
    { kind: "envio", dialect: "envio", asked: [TIMED, TIMED, TIMED] },
    { kind: "envio-3.2", dialect: "envio", asked: [TIMED, PLAIN, PLAIN, PLAIN] },
    { kind: "envio-2.27", dialect: "envio", asked: [TIMED, PLAIN, OLD, OLD, OLD] },
    { kind: "envio-2.27", dialect: "auto", asked: [TIMED, PLAIN, OLD, OLD, OLD] },
  ] as const)("is found once and kept: $kind as $dialect", async ({ kind, dialect, asked }) => {
    await using play = await startScenario(multichain(dialect), {
      endpoints: (spec) => ({ ...spec, kind }),
    });

    await play.run("125s");

    const queries = queriesOf(sentTo(play, MULTICHAIN));
    expect(queries.filter((query) => asked.includes(query as never))).toEqual(asked);
    expect(queries.slice(-2)).toEqual(asked.slice(-2));
    expect(play.status().targets.map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(play.metrics()).not.toMatch(/^synclag_poll_failures_total.* [1-9]/m);
  });

  it("is searched for over several polls if the budget is tight, and no target is blamed", async () => {
    const limited = multichain("envio")
      .replace("version: 1", "version: 1\nbudgets: { tight: { limit: 60, per: hour, scope: endpoint } }")
      .replace("chains: [base, mode] }", "budget: tight, chains: [base, mode] }");
    await using play = await startScenario(limited, {
      endpoints: (spec) => ({ ...spec, kind: "envio-2.27" }),
    });
    const statuses: string[] = [];

    for (let minute = 0; minute < 4; minute += 1) {
      await play.run("1m");
      statuses.push(play.target("airdrops/multichain/production/base").status);
    }

    expect(queriesOf(sentTo(play, MULTICHAIN))).toEqual([TIMED, PLAIN, OLD, OLD, OLD]);
    expect(statuses).toEqual(["unknown", "unknown", "ok", "ok"]);
  });
});

describe("an outage of the own network", () => {
  it.each([
    { up: ["a", "b", "c"], back: "every host", statuses: ["ok", "ok", "ok"] },
    { up: ["a", "c"], back: "not every host", statuses: ["ok", "unreachable", "ok"] },
  ])(
    "is followed by a poll of all that was polled in vain, where $back is back",
    async ({ up, statuses }) => {
      await using play = await startScenario(
        `
version: 1
poll: { retries: 0 }
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  airdrops:
    - { variant: often, dialect: graph, url: "https://a.example/", schedule: "*/15 * * * * *", chains: [base] }
    - { variant: too, dialect: graph, url: "https://b.example/", schedule: "*/15 * * * * *", chains: [base] }
    - { variant: rarely, dialect: graph, url: "https://c.example/", schedule: "0 0 * * * *", chains: [base] }
`,
        { at: "2026-11-20T03:58:30Z" },
      );
      await play.run("1m");
      for (const name of ["a", "b", "c"]) {
        play.setHost(`${name}.example`, "down");
      }
      await play.run("2m");
      const during = play.report().incidents.map(({ scope }) => scope);

      for (const name of up) {
        play.setHost(`${name}.example`, "up");
      }
      await play.run("30s");

      expect(during).toEqual(["network"]);
      // Nothing reached it while the network was down; it is due again at 05:00.
      expect(secondsOf(sentTo(play, "airdrops/rarely/production/all"))).toEqual([0, 196]);
      expect(play.status().targets.map(({ status }) => status)).toEqual(statuses);
    },
  );
});

describe("the last replies of an endpoint", () => {
  it("are on the page of its chain: the newest three, the newest five failures, and the command to repeat one", async () => {
    await using play = await startScenario(oneSubgraph({ poll: "retries: 0" }));
    play.fleet.endpoint(SUBGRAPH).fail(FAULTS.http_502);
    await play.run("20m");
    play.fleet.endpoint(SUBGRAPH).heal();
    await play.run("10m");

    const page = play.page("base");

    expect(page.match(/ago , HTTP 200/g)).toHaveLength(3);
    expect(page.match(/ago , HTTP 502/g)).toHaveLength(5);
    expect(page).toContain("curl -sS 'https://graph.example/base'");
  });
});

describe("a poll that never ends", () => {
  it("makes the daemon unhealthy once it takes longer than any poll may, and healthy again when it ends", async () => {
    await using play = await startScenario(oneSubgraph({ budget: "studio" }));
    await play.run("1m");
    play.setDisk("hangs");

    // With a retry of each, eight queries may take 160 s; 30 s are added.
    await play.run("3m");
    const slow = play.healthy();
    await play.run("7m");
    const stuck = play.healthy();
    play.setDisk("works");
    await play.run("1m");

    expect(slow.ok).toBe(true);
    expect(stuck).toEqual({
      ok: false,
      detail: expect.stringMatching(/^A poll has been in flight for 5\d\d s$/),
    });
    expect(play.healthy().ok).toBe(true);
    expect(play.target(SUBGRAPH).status).toBe("ok");
  });
});

function oneSubgraph({
  schedule = "0 * * * * *",
  poll = "timeout: 10s",
  budget,
}: {
  readonly schedule?: string;
  readonly poll?: string;
  readonly budget?: string;
}): string {
  return `
version: 1
poll: { ${poll} }
budgets: { studio: { limit: 3000, per: day, scope: endpoint } }
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "${schedule}"${budget === undefined ? "" : `, budget: ${budget}`}, chains: [base] }
`;
}

function multichain(dialect: string): string {
  return `
version: 1
chains:
  base: { id: 8453, block_time: 2s }
  mode: { id: 34443, block_time: 2s }
protocols:
  airdrops:
    - { variant: multichain, dialect: ${dialect}, url: "https://indexer.example/", schedule: "0 * * * * *", chains: [base, mode] }
`;
}

function sentTo({ received }: Scenario, endpoint: string): readonly ReceivedRequest[] {
  return received.filter((request) => request.endpoint === endpoint);
}

function secondsOf(requests: readonly ReceivedRequest[]): readonly number[] {
  return requests.map(({ atMs }) => Math.floor(atMs / 1_000));
}

function queriesOf(requests: readonly ReceivedRequest[]): readonly string[] {
  return requests.map(({ body }) => (JSON.parse(body) as { readonly query: string }).query);
}

function mostAtOnce(requests: readonly ReceivedRequest[]): number {
  return Math.max(
    ...requests.map(({ atMs }) => requests.filter((one) => one.atMs <= atMs && atMs < one.endMs).length),
  );
}
