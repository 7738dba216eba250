import { groupBy } from "../../src/core/model/group-by.ts";

/** A source of the one chain of a world: a target, or an RPC node. */
export interface FleetSource {
  /** `protocol/variant/production/bench`, or `rpc/bench/N` with N from 0 on. */
  readonly key: string;
  /** 1, 15, 30 or 60 s, 10 or 30 min. Nodes are polled each 15 s. */
  readonly pollIntervalMs: number;
  /** Sources of one provider have one host. Default: the source has its own host. */
  readonly provider?: string;
}

export function polledEach(pollIntervalMs: number, keys: readonly string[]): readonly FleetSource[] {
  return keys.map((key) => ({ key, pollIntervalMs }));
}

const SCHEDULES: Readonly<Record<number, string>> = {
  1000: "* * * * * *",
  15000: "*/15 * * * * *",
  30000: "*/30 * * * * *",
  60000: "0 * * * * *",
  600000: "0 */10 * * * *",
  1800000: "0 */30 * * * *",
};

/** A chains.yaml (as JSON) with the chain `bench`, these sources, and default thresholds; `blockTimeMs` as configured, or null. */
export function chainsOf(
  sources: readonly FleetSource[],
  blockTimeMs: number | null,
  parity?: { readonly protocol: string; readonly everyMs: number },
): string {
  const protocols = groupBy(
    sources.filter((source) => !isNode(source)),
    ({ key }) => key.split("/")[0] ?? "",
  );
  const chain = {
    id: 4_689,
    name: "Bench",
    ...(blockTimeMs === null ? {} : { block_time: `${blockTimeMs}ms` }),
    rpc: sources.filter(isNode).map(urlOf),
  };
  return JSON.stringify({
    version: 1,
    poll: { rpc_schedule: SCHEDULES[15_000] },
    chains: { bench: chain },
    protocols: Object.fromEntries([...protocols].map(([name, own]) => [name, own.map(indexerOf)])),
    ...(parity === undefined ? {} : { parity: [probeOf(parity, protocols.get(parity.protocol) ?? [])] }),
  });
}

export function isNode({ key }: { readonly key: string }): boolean {
  return key.startsWith("rpc/");
}

function indexerOf(source: FleetSource): unknown {
  return {
    variant: variantOf(source),
    dialect: "envio",
    url: urlOf(source),
    chains: ["bench"],
    schedule: SCHEDULES[source.pollIntervalMs],
  };
}

function variantOf({ key }: FleetSource): string {
  return key.split("/")[1] ?? "";
}

function urlOf({ key, provider = key }: FleetSource): string {
  return `https://${provider.replaceAll(/[^a-z0-9]/g, "-")}.example/${key}`;
}

function probeOf(
  { everyMs, protocol }: { readonly protocol: string; readonly everyMs: number },
  sources: readonly FleetSource[],
): unknown {
  const query = { select: "counter { events }", value: "counter.events" };
  return {
    name: "bench",
    protocol,
    every: `${everyMs}ms`,
    queries: Object.fromEntries(sources.map((source) => [variantOf(source), query])),
  };
}
