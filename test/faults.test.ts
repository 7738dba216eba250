import { beforeAll, describe, expect, it } from "vitest";
import type { FailureReason } from "../src/core/model/observation.ts";
import type { Report, Status } from "../src/core/model/report.ts";
import type { SimulatedFleet } from "../src/sim/fleet/simulated-fleet.ts";
import type { TargetBehaviour } from "../src/sim/fleet/simulated-target.ts";
import { FAULTS } from "./support/faults.ts";
import { startScenario } from "./support/scenario.ts";

// One daemon meets every fault at once, so that a fault which disturbs the others is seen; beside each there is a healthy
// neighbour on the same host. What is below HTTP, and each shape of a reply, is tested in io/http-client and dialects.

/** A fault, and what must become of it. */
interface FaultCase {
  /** Lower case and dashes: it is a protocol of its own. */
  readonly name: string;
  /** Null: the height itself decides the status. */
  readonly reason: FailureReason | null;
  readonly status: Status;
}

/** The contract's table from reasons to statuses. */
const STATUS_OF: Readonly<Record<FailureReason, Status>> = {
  unauthorized: "rejected",
  payment_required: "rejected",
  wrong_chain: "rejected",
  rate_limited: "throttled",
  budget: "throttled",
  not_found: "not_found",
  indexing_error: "failed",
  implausible: "diverged",
  timeout: "unreachable",
  dns: "unreachable",
  connect: "unreachable",
  tls: "unreachable",
  http_status: "unreachable",
  no_indexers: "unreachable",
  graphql: "unreachable",
  schema: "not_found",
  malformed: "unreachable",
  too_large: "unreachable",
  aborted: "unknown",
};
const FAILURES = Object.entries(FAULTS).map(([name, { reason, ...fault }]) => {
  return { name: name.replaceAll("_", "-"), reason, status: STATUS_OF[reason], fault };
});
/** What indexers reply with success. */
const BEHAVIOURS: readonly (FaultCase & { readonly behaviour: Partial<TargetBehaviour> })[] = [
  { name: "no-rows", reason: null, status: "missing", behaviour: { rows: 0 } },
  { name: "not-started", reason: null, status: "syncing", behaviour: { started: false } },
  { name: "far-beyond", reason: "implausible", status: "diverged", behaviour: { offsetBlocks: 5_000_000 } },
  { name: "flagged", reason: null, status: "failed", behaviour: { indexingErrors: true } },
  { name: "every-second-event", reason: null, status: "ok", behaviour: { skips: { fromBlock: 1, nth: 2 } } },
];
const CASES: readonly FaultCase[] = [...FAILURES, ...BEHAVIOURS];
/** Each neighbour is polled at least so often, so that the effect of what hangs is seen. */
const LEAST_POLLS = 3;

let json: Report;
let healed: readonly string[];
let polls: ReadonlyMap<string, number>;
/** The text of `/metrics` before the first poll, and while the faults last. */
let metrics: { readonly before: string; readonly after: string };

beforeAll(async () => {
  await using play = await startScenario(chainsYaml(), { prepare: spoil });
  const before = play.metrics();
  await play.run("80s");
  metrics = { before, after: play.metrics() };
  json = play.report();
  const endpoints = play.fleet.endpoints("*/*/*/*");
  polls = new Map(endpoints.map(({ key, requestCount }) => [key.split("/")[0] ?? "", requestCount]));
  for (const endpoint of endpoints) {
    endpoint.heal();
  }
  await play.run("130s");
  healed = play
    .report()
    .targets.filter(({ status }) => status !== "ok")
    .map(({ protocol, status, detail }) => `${protocol}: ${status}: ${detail}`);
}, 60_000);

describe("a fault of an indexer", () => {
  it("has the right reason and status", () => {
    const met = CASES.map(({ name }) => {
      const target = json.targets.find(({ protocol }) => protocol === name);
      return { name, reason: target?.reason, status: target?.status };
    });

    expect(met).toEqual(CASES.map(({ name, reason, status }) => ({ name, reason, status })));
  });

  it("leaves its neighbour ok and polled on time", () => {
    const disturbed = CASES.map(({ name }) => neighbourOf(name)).filter((name) => {
      const target = json.targets.find(({ protocol }) => protocol === name);
      return target?.status !== "ok" || (polls.get(name) ?? 0) < LEAST_POLLS;
    });

    expect(disturbed).toEqual([]);
  });

  it("is over once the indexer has healed", () => {
    expect(healed).toEqual([]);
  });

  it("is counted under its own reason and no other", () => {
    const counted = [...metrics.after.matchAll(/^synclag_poll_failures_total\{(.*)\} (?!0$)/gm)].map(
      ([, labels = ""]) => labels.replace(/protocol="([^"]*)".*reason="([^"]*)"/, "$1 $2"),
    );

    expect(counted).toEqual(
      CASES.filter(({ reason }) => reason !== null).map(({ name, reason }) => `${name} ${reason}`),
    );
  });

  it("invents no series: every label's value was there before, or is in the configuration", () => {
    const known = new Set(labelValues(metrics.before));
    const invented = labelValues(metrics.after).filter(
      (value) => !known.has(value) && !/^Qm\w{44}$/.test(value),
    );

    expect(invented).toEqual([]);
  });
});

/** Makes each indexer fail as its case says. */
function spoil(fleet: SimulatedFleet): void {
  for (const { name, fault } of FAILURES) {
    fleet.endpoint(`${name}/subgraph/production/all`).fail(fault);
  }
  for (const { name, behaviour } of BEHAVIOURS) {
    fleet.endpoint(`${name}/subgraph/production/all`).targets[0]?.set(behaviour);
  }
}

/** But for the bounds of histograms, which are numbers of our own. */
function labelValues(text: string): readonly string[] {
  return [...text.matchAll(/[{,](?!le=)\w+="((?:[^"\\]|\\.)*)"/g)].map(([, value = ""]) => value);
}

function neighbourOf(name: string): string {
  return `${name}-neighbour`;
}

/** Every fault has a host of its own. An Envio serves several chains, of which one can be missing. */
function chainsYaml(): string {
  const indexers = CASES.flatMap(({ name }) =>
    [name, neighbourOf(name)].map((protocol) => {
      const dialect = name === "no-rows" ? "envio" : "graph";
      return `
  ${protocol}: [{ variant: subgraph, dialect: ${dialect}, url: "https://${name}.example/${protocol}", schedule: "*/15 * * * * *", chains: [base] }]`;
    }),
  );
  return `
version: 1
poll: { retries: 0, concurrency: 100, timeout: 5s }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:${indexers.join("")}
`;
}
