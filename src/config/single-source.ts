import { endpointsOf, type Fleet } from "../core/model/fleet.ts";

/** One sentence about the chains on which a single target is the only source, if there are any. */
export function singleSourceWarning(fleet: Fleet): readonly string[] {
  const endpoints = endpointsOf(fleet);
  const counts = new Map<string, number>();
  for (const { chain } of endpoints.flatMap(({ targets }) => targets)) {
    counts.set(chain, (counts.get(chain) ?? 0) + 1);
  }
  const withNode = new Set(endpoints.filter(({ kind }) => kind === "rpc").map(({ chain }) => chain));
  const single = fleet.chains
    .map(({ slug }) => slug)
    .filter((slug) => counts.get(slug) === 1 && !withNode.has(slug));
  return single.length === 0
    ? []
    : [
        `${single.join(", ")}: a single source, so nothing confirms its height, and lag is measured against the clock; add an RPC node (rpc) or another variant`,
      ];
}
