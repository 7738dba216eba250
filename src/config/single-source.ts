import { endpointsOf, type Fleet } from "../core/model/fleet.ts";

/** One sentence about the chains that have a single source, if there are any. */
export function singleSourceWarning(fleet: Fleet): readonly string[] {
  const counts = new Map<string, number>();
  for (const { chain, kind, targets } of endpointsOf(fleet)) {
    for (const slug of kind === "rpc" ? [chain ?? ""] : targets.map((target) => target.chain)) {
      counts.set(slug, (counts.get(slug) ?? 0) + 1);
    }
  }
  const single = fleet.chains.map(({ slug }) => slug).filter((slug) => counts.get(slug) === 1);
  return single.length === 0
    ? []
    : [
        `${single.join(", ")}: a single source, so nothing confirms its height, and lag is measured against the clock; add an RPC node (rpc) or another variant`,
      ];
}
