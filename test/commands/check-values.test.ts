import { beforeAll, describe, expect, it } from "vitest";
import { type CheckFlags, check } from "../../src/commands/check.ts";
import type { Chain, Endpoint } from "../../src/core/model/fleet.ts";
import type { FailureReason, Head, Observation } from "../../src/core/model/observation.ts";
import { type Report, STATUSES } from "../../src/core/model/report.ts";
import { formatDuration, formatNumber } from "../../src/core/model/text.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { STATUS_METRICS } from "../../src/metrics/families/status.ts";
import { createPrometheus } from "../../src/metrics/registry.ts";
import { createScrapeCache } from "../../src/metrics/scrape-cache.ts";
import type { StatusJson, TargetJson } from "../../src/views/api/api-schema.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";
import { BASE, headOf, T0 } from "../core/chain/chain-fixture.ts";
import { commandWorld } from "../support/command-world.ts";
import { metricsSource } from "../support/metrics-source.ts";
import { serve } from "../support/served.ts";
import { sampleParity } from "../views/sample-report.ts";

type Said = FailureReason | "missing" | "not_started" | "nothing" | (Partial<Head> & { block: number });

interface Tick {
  readonly index: number;
  readonly head: number;
}

const HALTED: Chain = { ...BASE, slug: "halted", id: 77, name: "Halted" };
const TICKS = 90;
const TICK_MS = 15_000;

/** What each target is made to say, by its variant; the name is the status that it ends in, and what is special. */
const SCRIPT: Readonly<Record<string, (tick: Tick) => Said>> = {
  "ok-first": ({ head }) => ({ block: head }),
  "ok-second": ({ head }) => ({
    block: head,
    timestampSec: Math.floor((T0 + (head - 1_000_000) * 2_000) / 1_000),
  }),
  "ok-third": ({ head }) => ({ block: head - 3, deployment: "QmThird", indexingErrors: false }),
  "ok-but-its-last-poll-failed": ({ head, index }) => (index === TICKS - 1 ? "timeout" : { block: head }),
  "ok-but-its-last-poll-said-not-started": ({ head, index }) =>
    index === TICKS - 1 ? "not_started" : { block: head },
  unknown: () => "nothing",
  rejected: () => "unauthorized",
  throttled: afterHeights("rate_limited"),
  not_found: () => "not_found",
  unreachable: afterHeights("connect"),
  missing: afterHeights("missing"),
  failed: ({ head }) => ({ block: head - 10, indexingErrors: true }),
  diverged: afterHeights("implausible"),
  stalled: ({ head, index }) => ({ block: index < 10 ? head : 1_000_000 }),
  syncing: afterHeights("not_started"),
  "syncing-from-the-start": () => "not_started",
  lagging: ({ head }) => ({ block: head - 431 }),
};

describe("a fleet with a target in every status", () => {
  const report = withParity(playedReport());
  let metrics: ReadonlyMap<string, string>;
  let served: StatusJson;
  let printed: Readonly<Record<CheckFlags["format"], string>>;

  beforeAll(async () => {
    const prometheus = createPrometheus({
      families: METRIC_FAMILIES,
      build: { version: "0", revision: "", nodeVersion: "" },
    });
    const scrape = createScrapeCache((source) => prometheus.render(source));
    await using server = await serve({
      report: () => report,
      metrics: async () => ({
        contentType: prometheus.contentType,
        gzipped: await scrape(metricsSource({ report })),
      }),
    });
    metrics = seriesOf(await (await fetch(`${server.url}/metrics`)).text());
    // The server's own answer.
    served = (await (await fetch(`${server.url}/api/v1/status`)).json()) as StatusJson;
    printed = {
      table: await checked(server.url, "table"),
      json: await checked(server.url, "json"),
      prometheus: await checked(server.url, "prometheus"),
    };
  });

  it("has every status", () => {
    const statuses = new Set(targetsOf(report).map(({ status }) => status));

    expect([...STATUSES].filter((status) => !statuses.has(status))).toEqual([]);
  });

  it("is the same in `check --format json` as in the API", () => {
    expect(JSON.parse(printed.json)).toEqual(served);
  });

  it("has the same series and values in `check --format prometheus` as in /metrics", () => {
    const names = new Set(STATUS_METRICS.map(({ name }) => name));
    const both = [...metrics].filter(([series]) => names.has(series.replace(/\{.*/, "")));

    expect(Object.fromEntries(seriesOf(printed.prometheus))).toEqual(Object.fromEntries(both));
    expect(new Set(both.map(([series]) => series.replace(/\{.*/, "")))).toEqual(names);
  });

  it("has the same values in the API as in /metrics", () => {
    const values = served.targets.map((target) => ({
      target: labelsOf(target),
      up: Number(target.up),
      block_number: target.block_number,
      block_timestamp_seconds: unixSeconds(target.block_timestamp),
      last_success_timestamp_seconds: unixSeconds(target.last_success),
      last_advance_timestamp_seconds: unixSeconds(target.last_advance),
      lag_blocks: target.lag_blocks,
      lag_seconds: target.lag_seconds,
      maintenance: Number(target.maintenance),
      status: 1,
    }));

    expect(values).toEqual(
      served.targets.map((target) => {
        const labels = labelsOf(target);
        const value = (name: string) => read(metrics, `synclag_${name}{${labels}}`);
        return {
          target: labels,
          up: value("up"),
          block_number: value("block_number"),
          block_timestamp_seconds: value("block_timestamp_seconds"),
          last_success_timestamp_seconds: value("last_success_timestamp_seconds"),
          last_advance_timestamp_seconds: value("last_advance_timestamp_seconds"),
          lag_blocks: value("lag_blocks"),
          lag_seconds: value("lag_seconds"),
          maintenance: value("maintenance"),
          status: read(metrics, `synclag_status{${labels},status="${target.status}"}`),
        };
      }),
    );
  });

  it("says in the table what the API says", () => {
    const rows = printed.table.split("\n").map((line) => line.split(/ {2,}/));

    for (const { chain, variant, status, lag_seconds, block_number } of served.targets.filter(isListed)) {
      expect(rows).toContainEqual([
        status,
        `airdrops/${chain}/${variant}`,
        lag_seconds === null ? "-" : formatDuration(lag_seconds * 1_000),
        expect.anything(),
        block_number === null ? "-" : formatNumber(block_number),
        expect.anything(),
      ]);
    }
  });

  it.each([
    { variant: "ok-first", up: 1 },
    { variant: "ok-but-its-last-poll-failed", up: 0 },
    { variant: "ok-but-its-last-poll-said-not-started", up: 0 },
    { variant: "missing", up: 0 },
    { variant: "syncing", up: 0 },
    { variant: "stalled", up: 1 },
    { variant: "failed", up: 1 },
  ])("is up=$up for $variant", ({ variant, up }) => {
    const target = served.targets.find((one) => one.variant === variant);
    const series = `synclag_up{${target === undefined ? "" : labelsOf(target)}}`;

    expect(seriesOf(printed.prometheus).get(series)).toBe(String(up));
  });
});

/** Heights for most of the time, then this. */
function afterHeights(then: Said): (tick: Tick) => Said {
  return ({ head, index }) => (index < TICKS - 6 ? { block: head } : then);
}

/** The report with a difference between the first two targets. */
function withParity({ chains: [first, ...rest], ...report }: Report): Report {
  const [against, target] = first?.targets ?? [];
  if (first === undefined || target === undefined || against === undefined) {
    throw new Error("Cannot add parity: there are no two targets");
  }
  const parity = [sampleParity({ target: target.target, against: against.target })];
  return { ...report, chains: [{ ...first, parity }, ...rest] };
}

function playedReport(): Report {
  const endpoints = Object.keys(SCRIPT).map((variant) => endpointOf({ variant }));
  const halted = ["one", "two"].map((variant) => haltedEndpoint({ variant }));
  const node: Endpoint = {
    ...endpointOf({ protocol: "", variant: "rpc", tier: "", chain: HALTED.slug }),
    key: "rpc/halted/1",
    kind: "rpc",
    targets: [],
  };
  const fleet = { ...fleetOf([...endpoints, ...halted]), chains: [BASE, HALTED], rpcEndpoints: [node] };
  let nowMs = T0;
  const monitor = new Monitor(fleet, {
    nowMs: () => nowMs,
    budgets: () => [],
    maintenance:
      () =>
      ({ variant }) =>
        variant === "stalled",
  });
  for (let index = 0; index < TICKS; index += 1) {
    nowMs += TICK_MS;
    const head = headOf(nowMs);
    for (const [at, { key, variant }] of endpoints.entries()) {
      const said = SCRIPT[variant]?.({ index, head }) ?? "nothing";
      monitor.observe(
        observationsOf(key, { sentAtMs: nowMs - 300, receivedAtMs: nowMs - 299 + 7 * at }, said),
      );
    }
    const stopped = { block: Math.min(head, headOf(T0 + 20 * TICK_MS)) };
    for (const { key } of [...halted, node]) {
      monitor.observe(observationsOf(key, { sentAtMs: nowMs - 300, receivedAtMs: nowMs - 250 }, stopped));
    }
  }
  return monitor.report();
}

function haltedEndpoint({ variant }: Pick<Endpoint, "variant">): Endpoint {
  const endpoint = endpointOf({ variant, chain: HALTED.slug });
  return { ...endpoint, targets: endpoint.targets.map((target) => ({ ...target, chainId: HALTED.id })) };
}

function observationsOf(
  source: string,
  times: { readonly sentAtMs: number; readonly receivedAtMs: number },
  said: Said,
): readonly Observation[] {
  if (typeof said === "object") {
    const head = { timestampSec: null, hash: null, deployment: null, indexingErrors: null, ...said };
    return [{ kind: "head", source, ...times, head }];
  }
  switch (said) {
    case "nothing":
      return [];
    case "missing":
    case "not_started":
      return [{ kind: said, source, ...times }];
    default:
      return [{ kind: "failed", source, ...times, reason: said, detail: "" }];
  }
}

async function checked(url: string, format: CheckFlags["format"]): Promise<string> {
  const { world, printed } = commandWorld({});
  await check([], { config: "chains.yaml", url, format }, world);
  return printed.out.join("\n");
}

function targetsOf({ chains }: Report) {
  return chains.flatMap(({ targets }) => targets);
}

/** Targets that are ok or that an incident explains have no line of their own in a large table. */
function isListed({ status }: TargetJson): boolean {
  return status !== "ok" && status !== "unknown" && status !== "chain_halted";
}

function seriesOf(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]),
  );
}

function read(metrics: ReadonlyMap<string, string>, series: string): number | null {
  const text = metrics.get(series);
  return text === undefined ? null : Number(text);
}

function labelsOf({ protocol, variant, tier, chain, chain_id }: TargetJson): string {
  return `protocol="${protocol}",variant="${variant}",tier="${tier}",chain="${chain}",chain_id="${chain_id}"`;
}

function unixSeconds(isoTime: string | null): number | null {
  return isoTime === null ? null : Date.parse(isoTime) / 1_000;
}
