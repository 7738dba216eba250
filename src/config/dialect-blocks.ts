import type { Endpoint, Target } from "../core/model/fleet.ts";
import { DIALECTS } from "../dialects/families.ts";
import type { Spot } from "./problems.ts";
import type { IndexerEntry } from "./schema.ts";
import { didYouMean } from "./shape.ts";

/** A dialect, and the blocks that say what it cannot know. */
type DialectEntry = Pick<IndexerEntry, "custom" | "metrics" | "status"> & { readonly dialect: string };

/** A chain that the entry lists. */
type ListedChain = Pick<Target, "chain" | "chainId">;

/** Checks that the blocks fit the dialect. `sharing`: the number of listed chains with the same URL. */
export function checkDialect(
  entry: DialectEntry,
  spot: Spot,
  listed: readonly ListedChain[],
  sharing: number,
): void {
  const { dialect, custom, metrics, status } = entry;
  const { needs, takesStatus = false, metrics: known } = DIALECTS[dialect] ?? {};
  if (needs === "custom" && custom === undefined) {
    spot.add("dialect custom without a block custom, expected custom: { query, height }");
  }
  const refuse = (block: "custom" | "metrics" | "status", expected: string): void =>
    spot.at(block).add(`no effect with dialect ${dialect}, expected dialect: ${expected}`, "key");
  if (needs !== "custom" && custom !== undefined) {
    refuse("custom", "custom");
  }
  if (!takesStatus && status !== undefined) {
    refuse("status", "graph");
  }
  if (known === undefined) {
    if (metrics !== undefined) {
      refuse("metrics", "metrics");
    }
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
  const slugs = listed.map((target) => target.chain);
  for (const [value, slug] of Object.entries(metrics?.chains ?? {}).filter(
    ([, one]) => !slugs.includes(one),
  )) {
    spot.at("metrics", "chains", value).add(`unknown chain "${slug}"${didYouMean(slug, slugs)}`);
  }
}

/** The blocks as an endpoint of these chains has them. */
export function readBlocks(
  { custom, metrics }: { readonly [Block in "custom" | "metrics"]?: DialectEntry[Block] | undefined },
  listed: readonly ListedChain[],
): Pick<Endpoint, "custom" | "metrics"> {
  const { chains, ...others } = metrics ?? {};
  const ids = Object.entries(chains ?? {}).flatMap(([value, slug]) =>
    listed.filter((target) => target.chain === slug).map(({ chainId }) => [value, chainId] as const),
  );
  return {
    ...(custom && { custom }),
    ...(metrics && { metrics: { ...others, ...(chains && { chains: Object.fromEntries(ids) }) } }),
  };
}
