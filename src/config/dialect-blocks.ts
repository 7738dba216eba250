import type { Chain, Endpoint, Form } from "../core/model/fleet.ts";
import { DIALECTS } from "../dialects/families.ts";
import type { CustomEntry, IndexerEntry } from "./indexer-schema.ts";
import type { Spot } from "./problems.ts";
import { didYouMean } from "./shape.ts";

/** A dialect, and the blocks that say what it cannot know. */
type DialectEntry = Pick<IndexerEntry, "custom" | "metrics" | "status"> & { readonly dialect: string };

/** A chain that the entry lists. */
export interface ListedChain extends Pick<Chain, "slug"> {
  readonly chainId: number;
}

/** Checks that the blocks fit the dialect. `sharing`: the number of listed chains with the same URL. */
export function checkDialect(
  entry: DialectEntry,
  spot: Spot,
  listed: readonly ListedChain[],
  sharing: number,
): void {
  const { dialect, custom, status } = entry;
  const { needs, takesStatus } = DIALECTS[dialect] ?? {};
  if (needs === "custom" && custom === undefined) {
    spot.add("dialect custom without a block custom, expected custom: { query, height }");
  }
  if (needs !== "custom" && custom !== undefined) {
    spot.at("custom").add(`no effect with dialect ${dialect}, expected dialect: custom`, "key");
  }
  if (takesStatus !== true && status !== undefined) {
    spot.at("status").add(`no effect with dialect ${dialect}, expected dialect: graph`, "key");
  }
  checkMetrics(entry, spot, listed, sharing);
}

/** Whether a metrics page has a height, and labels that can say which chain a value is of. */
function checkMetrics(
  { dialect, metrics }: DialectEntry,
  spot: Spot,
  listed: readonly ListedChain[],
  sharing: number,
): void {
  const known = DIALECTS[dialect]?.metrics;
  const { chain = known?.chain, chains } = metrics ?? {};
  if (known === undefined) {
    if (metrics !== undefined) {
      spot.at("metrics").add(`no effect with dialect ${dialect}, expected dialect: metrics`, "key");
    }
    return;
  }
  if ((known.height ?? metrics?.height) === undefined) {
    spot.add(`dialect ${dialect} without a height, expected metrics: { height: NAME }`);
  }
  if (chain === undefined && sharing > 1) {
    const expected = "expected metrics: { chain: LABEL }, or a url with {chain}";
    spot.add(`no label says which of ${sharing} chains a value is of, ${expected}`);
  }
  const spotOfChains = spot.at("metrics", "chains");
  if (chains !== undefined && chain === undefined) {
    spotOfChains.add("no effect without chain, the label whose values it has", "key");
  }
  const slugs = listed.map(({ slug }) => slug);
  for (const [value, slug] of Object.entries(chains ?? {}).filter(([, one]) => !slugs.includes(one))) {
    const hint = () => didYouMean(slug, slugs) || `; expected ${slugs.join(" or ")}`;
    spotOfChains.at(value).add(() => `unknown chain "${slug}"${hint()}`);
  }
}

/** The blocks as an endpoint of these chains has them. */
export function readBlocks(
  { custom, metrics }: { readonly [Block in "custom" | "metrics"]?: DialectEntry[Block] | undefined },
  listed: readonly ListedChain[],
): Pick<Endpoint, "custom" | "metrics"> {
  const { chains, ...others } = metrics ?? {};
  const ids = Object.entries(chains ?? {}).flatMap(([value, slug]) =>
    listed.filter((chain) => chain.slug === slug).map(({ chainId }) => [value, chainId] as const),
  );
  return {
    ...(custom && { custom: toForm(custom) }),
    ...(metrics && { metrics: { ...others, ...(chains && { chains: Object.fromEntries(ids) }) } }),
  };
}

/** Without a query and a body it is a GET. */
export function toForm({
  method: _,
  chain_id: chainId,
  not_started: notStarted,
  ...rest
}: CustomEntry): Form {
  return { ...rest, chainId, notStarted };
}
