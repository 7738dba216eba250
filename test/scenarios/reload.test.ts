import { describe, expect, it } from "vitest";
import { type Scenario, startScenario } from "../support/scenario.ts";

const BASE = "airdrops/subgraph/production/base";
const MODE = "airdrops/subgraph/production/mode";
const LOCKUP = "lockup/subgraph/production/base";

function chainsYaml({
  chains = "[base, mode]",
  lockup = "",
  schedule = "0 * * * * *",
  budget = "studio: { limit: 3000, per: day, scope: endpoint }",
  budgetName = "studio",
  lagging = "10m",
  poll = "retries: 0",
  url = "https://graph.example/{chain}",
  listen = "127.0.0.1:9855",
}): string {
  return `
version: 1
listen: ${listen}
poll: { ${poll} }
thresholds: { lagging: ${lagging} }
budgets: { ${budget} }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "${url}", schedule: "${schedule}", budget: ${budgetName}, chains: ${chains} }
    - { variant: multichain, dialect: squid, url: "https://squid.example/{chain}", schedule: "*/15 * * * * *", chains: ${chains} }
${lockup}
`;
}

const WITH_LOCKUP = `  lockup:
    - { variant: subgraph, dialect: graph, url: "https://lockup.example/{chain}", schedule: "0 0 0 1 1 *", chains: [base] }`;

describe("a reload", () => {
  it("polls new endpoints at once; the others keep status, times, counters and schedule", async () => {
    await using play = await startScenario(chainsYaml({}), {
      simulated: chainsYaml({ lockup: WITH_LOCKUP }),
    });
    await play.run("330s");
    const before = play.target(BASE);
    const polls = pollsOf(play, "base");

    const result = await play.reload(chainsYaml({ lockup: WITH_LOCKUP }));
    await play.run("5s");

    const { last_success, last_advance, status } = play.target(BASE);
    expect(result).toEqual({ kind: "reloaded", detail: "Reloaded chains.yaml: 1 target added" });
    expect({ last_success, last_advance, status }).toEqual({
      last_success: before.last_success,
      last_advance: before.last_advance,
      status: "ok",
    });
    expect(pollsOf(play, "base")).toBe(polls);
    expect(play.target(LOCKUP)).toMatchObject({ up: true, status: "ok" });
    expect(play.log.filter(({ msg }) => msg === "Reloaded")).toMatchObject([
      { level: 30, file: "chains.yaml", changes: "1 target added" },
    ]);
    await play.run("30s");
    expect(pollsOf(play, "base")).toBe((polls ?? 0) + 1);
  });

  it("says which targets, URLs and schedules have changed", async () => {
    await using play = await startScenario(chainsYaml({}));
    const other = { url: "https://other.example/{chain}", schedule: "*/30 * * * * *" };

    const details = [
      await play.reload(chainsYaml({})),
      await play.reload(chainsYaml({ ...other, chains: "[base]", lockup: WITH_LOCKUP })),
    ].map(({ detail }) => detail);

    expect(details).toEqual([
      "Reloaded chains.yaml: no target, url or schedule changed",
      "Reloaded chains.yaml: 1 target added, 2 removed, schedule of airdrops/subgraph/production changed, url of airdrops/subgraph/production changed",
    ]);
  });

  it("removes series, targets and polls of removed endpoints, which restart when they return", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("5m");

    await play.reload(chainsYaml({ chains: "[base]" }));
    await play.run("1m");
    const metrics = play.metrics();
    const asked = play.fleet.endpoint(MODE).requestCount;
    await play.run("5m");

    expect(metrics).not.toContain('chain="mode"');
    expect(metrics).not.toContain('endpoint="mode"');
    expect(metrics).toContain('chain="base"');
    expect(play.fleet.endpoint(MODE).requestCount).toBe(asked);
    await play.reload(chainsYaml({}));
    expect(play.target(MODE)).toMatchObject({ status: "unknown", last_success: null });
    expect(pollsOf(play, "mode")).toBe(0);
    // What was spent at its URL is not forgotten.
    expect(play.report().budgets.find(({ endpoint }) => endpoint === MODE)?.used).toBeGreaterThan(4);
  });

  it("changes schedule and thresholds of known endpoints", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("5m");
    play.fleet.target(BASE).set({ lagMs: 300_000 });
    await play.run("5m");
    const before = play.target(BASE).status;

    await play.reload(chainsYaml({ lagging: "2m", schedule: "0 */5 * * * *" }));
    await play.run("5m");
    const asked = play.fleet.endpoint(BASE).requestCount;
    await play.run("20m");

    expect([before, play.target(BASE).status]).toEqual(["ok", "lagging"]);
    expect(play.fleet.endpoint(BASE).requestCount - asked).toBeLessThan(6);
  });

  it.each([
    {
      what: "changes the limit of",
      next: { budget: "studio: { limit: 2000, per: day, scope: endpoint }" },
      limit: 2_000,
    },
    {
      what: "renames",
      next: { budget: "other: { limit: 3000, per: day, scope: endpoint }", budgetName: "other" },
      limit: 3_000,
    },
  ])("that $what a budget keeps what was spent", async ({ next, limit }) => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("330s");
    const before = play.report().budgets.map(({ used }) => used);

    await play.reload(chainsYaml(next));

    const after = play.report().budgets;
    expect(before[0]).toBeGreaterThan(5);
    expect(after.map(({ used }) => used)).toEqual(before);
    expect(after.map((one) => one.limit)).toEqual([limit, limit]);
  });

  it("that moves an endpoint to another URL knows nothing of it, but its counters go on", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("330s");
    const polls = pollsOf(play, "base") ?? 0;

    await play.reload(chainsYaml({ url: "https://other.example/{chain}" }));

    expect(play.target(BASE)).toMatchObject({ status: "unknown", block_number: null });
    expect(pollsOf(play, "base")).toBe(polls);
  });

  it("leaves the polls under way to end, once, and repeats none of them", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("90s");
    play.fleet.endpoint(BASE).set({ latency: { minMs: 5_000, maxMs: 5_000 } });
    await play.run("31s");
    const asked = play.received.filter(({ endpoint }) => endpoint === BASE).length;

    for (let reload = 0; reload < 5; reload += 1) {
      await play.reload(chainsYaml({}));
    }
    const during = play.metric("synclag_polls_in_flight");
    await play.run("10s");

    expect(during).toBe(1);
    expect(play.received.filter(({ endpoint }) => endpoint === BASE)).toHaveLength(asked);
    expect(Date.now() - Date.parse(play.target(BASE).last_success ?? "")).toBeLessThan(10_000);
    expect(play.metric("synclag_polls_in_flight")).toBe(0);
  });

  it("does not use the reply of a poll that it has changed or removed meanwhile", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("90s");
    play.fleet.endpoint(BASE).set({ latency: { minMs: 5_000, maxMs: 5_000 } });
    await play.run("31s");

    await play.reload(chainsYaml({ url: "https://other.example/{chain}", schedule: "0 0 0 1 1 *" }));
    // The first reply from the new URL takes five seconds from now on.
    await play.run("4500ms");

    const replies = play.received.filter(({ endpoint }) => endpoint === BASE).map(({ endMs }) => endMs);
    expect(replies.slice(-2).map(Number.isFinite)).toEqual([true, false]);
    expect(play.target(BASE)).toMatchObject({ block_number: null, last_success: null });
  });

  it("follows within two seconds, once, a change of a file that is watched", async () => {
    await using play = await startScenario(chainsYaml({}));

    play.edit(chainsYaml({ chains: "[base]" }));
    await play.run("2500ms");
    const chains = play.report().targets.map(({ chain }) => chain);
    await play.run("10s");

    expect(chains).toEqual(["base", "base"]);
    expect(play.log.filter(({ msg }) => msg === "Reloaded")).toHaveLength(1);
  });

  it("counts what a poll has just shown", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("170s");
    play.fleet.endpoint(BASE).set({ latency: { minMs: 500, maxMs: 500 } });
    play.fleet.target(BASE).set({ says: { block: 90_000_000 } });
    await play.run("10600ms");

    await play.reload(chainsYaml({}));
    await play.run("2s");

    expect(
      play.metric(
        'synclag_poll_failures_total{protocol="airdrops",variant="subgraph",tier="production",endpoint="base",reason="implausible"}',
      ),
    ).toBe(1);
  });

  it("over and over, of good and bad files, disturbs no poll", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("1m");
    const files = [chainsYaml({}), "version: 2", chainsYaml({ poll: "retries: 2, concurrency: 4" }), ""];
    const kinds: string[] = [];

    for (let second = 0; second < 300; second += 1) {
      if (second % 7 === 0) {
        kinds.push((await play.reload(files[(second / 7) % files.length] ?? "")).kind);
      }
      await play.run("1s");
    }

    const times = play.received.filter(({ endpoint }) => endpoint === BASE).map(({ atMs }) => atMs);
    expect(new Set(kinds.filter((_, index) => index % 2 === 0))).toEqual(new Set(["reloaded"]));
    expect(new Set(kinds.filter((_, index) => index % 2 === 1))).toEqual(new Set(["failed"]));
    expect(times.slice(1).map((atMs, index) => Math.round((atMs - (times[index] ?? 0)) / 1_000))).toEqual([
      ...Array(6).fill(60),
    ]);
    expect(play.status().targets.every(({ status }) => status === "ok")).toBe(true);
    expect(play.healthy().ok).toBe(true);
  });
});

describe("a reload of an invalid file", () => {
  it("changes nothing, names file, line and mistake, and shows in the metrics until one succeeds", async () => {
    await using play = await startScenario(chainsYaml({}));
    await play.run("5m");
    const succeeded = play.metric("synclag_config_last_reload_success_timestamp_seconds");

    const result = await play.reload(chainsYaml({ chains: "[base, mdoe]" }));
    const failed = [
      play.metric("synclag_config_last_reload_successful"),
      play.metric("synclag_config_last_reload_success_timestamp_seconds"),
    ];
    await play.run("2m");

    expect(result).toEqual({
      kind: "failed",
      detail: expect.stringMatching(/^chains\.yaml:12:.*"mdoe"/),
    });
    expect(failed).toEqual([0, succeeded]);
    expect(play.log.filter(({ level }) => level === 50)).toMatchObject([
      {
        msg: "Reload failed; keeping the current configuration",
        detail: result.detail,
      },
    ]);
    expect(play.status().targets.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(pollsOf(play, "mode")).toBe(7);

    await play.reload(chainsYaml({}));

    expect(play.metric("synclag_config_last_reload_successful")).toBe(1);
    expect(play.metric("synclag_config_last_reload_success_timestamp_seconds")).toBeGreaterThan(
      succeeded ?? Number.POSITIVE_INFINITY,
    );
  });
});

describe("a reload of a file with warnings", () => {
  it("logs each of them, and that another address takes effect at the next start", async () => {
    await using play = await startScenario(chainsYaml({}), { env: { LATER: "" } });

    await play.reload(
      chainsYaml({
        listen: "127.0.0.1:9999",
        lockup: WITH_LOCKUP.replace("https://lockup.example/", `\${LATER}`).replace(
          "url:",
          "optional: true, url:",
        ),
      }),
    );

    expect(play.log.filter(({ msg }) => msg === "Configuration warning")).toMatchObject([
      { level: 40, detail: expect.stringContaining("LATER") },
      { level: 40, detail: "listen 127.0.0.1:9999 takes effect at the next start" },
    ]);
    expect(play.status().targets.map(({ protocol }) => protocol)).not.toContain("lockup");
  });
});

function pollsOf(play: Scenario, endpoint: string): number | undefined {
  return play.metric(
    `synclag_polls_total{protocol="airdrops",variant="subgraph",tier="production",endpoint="${endpoint}"}`,
  );
}
