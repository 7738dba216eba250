import type { Target } from "../core/model/fleet.ts";
import { DIALECTS } from "../dialects/families.ts";
import type { Spot } from "./problems.ts";
import type { IndexerEntry } from "./schema.ts";
import { checkKnown } from "./shape.ts";

/** A dialect, and the blocks that say what it cannot know. */
type DialectEntry = Pick<IndexerEntry, "custom" | "metrics" | "status"> & { readonly dialect: string };

/**
 * Checks that an entry has the blocks that its dialect needs, and no others. `listed`: its chains; `sharing`: the number of them
 * with the same URL.
 */
export function checkDialect(
  entry: DialectEntry,
  spot: Spot,
  listed: readonly Pick<Target, "chain">[],
  sharing: number,
): void {
  const { dialect, custom, metrics } = entry;
  const known = DIALECTS[dialect]?.metrics;
  const takes = { custom: dialect === "custom", metrics: known !== undefined, status: dialect === "graph" };
  for (const [block, expected] of [["custom"], ["metrics"], ["status", "graph"]] as const) {
    if (entry[block] !== undefined && !takes[block]) {
      const advice = `expected dialect: ${expected ?? block}`;
      spot.at(block).add(`no effect with dialect ${dialect}, ${advice}`, "key");
    }
  }
  if (takes.custom && custom === undefined) {
    spot.add("dialect custom without a block custom, expected custom: { query, height }");
  }
  if (takes.status && entry.status !== undefined && sharing > 1) {
    const advice = "give url a placeholder, so that each chain has its own";
    spot.at("status").add(`an endpoint of ${sharing} chains cannot have a status; ${advice}`, "key");
  }
  if (known === undefined) {
    return;
  }
  const { height, chain } = { ...metrics, ...known };
  if (height === undefined) {
    spot.add("dialect without a height, expected metrics: { height: NAME }");
  }
  if (sharing > 1 && chain === undefined) {
    const expected = "expected metrics: { chain: LABEL }, or a url with {chain}";
    spot.add(`no label says which of ${sharing} chains a value is of, ${expected}`);
  }
  const slugs = new Set(listed.map((target) => target.chain));
  for (const [value, slug] of Object.entries(metrics?.chains ?? {})) {
    checkKnown("chain", slug, slugs, spot.at("metrics", "chains", value));
  }
}
