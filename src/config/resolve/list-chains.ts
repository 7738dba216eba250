import type { ConfigFile } from "../schema/config-file.ts";
import { type ChainValues, OVERRIDE_KEYS } from "../schema/indexer.ts";
import type { Path } from "../yaml/config-error.ts";
import { didYouMean } from "../yaml/did-you-mean.ts";
import type { ChainScope, IndexerScope } from "./resolve-context.ts";
import { BUILT_IN_VALUES, parseTemplate, placeholdersOf } from "./template.ts";

/** A chain that an indexer lists. */
export interface ListedChain {
  readonly slug: string;
  readonly chainId: number;
  readonly scope: ChainScope;
}

/** The chains of an indexer with the values of their placeholders. Tells of unknown ones, twins and unused values. */
export function listChains(indexer: IndexerScope, chains: ConfigFile["chains"]): readonly ListedChain[] {
  const seen = new Set<string>();
  return entriesOf(indexer).flatMap(({ slug, path, overrides }) => {
    if (seen.has(slug)) {
      indexer.resolving.tellKey(path, `Cannot list chain "${slug}" twice`);
      return [];
    }
    seen.add(slug);
    checkOwnValues(indexer, path, overrides);
    const chain = Object.hasOwn(chains, slug) ? chains[slug] : undefined;
    if (chain === undefined) {
      tellUnknown(indexer, path, { slug, known: Object.keys(chains) });
    }
    // Without a chain the file is refused, but what else is wrong with this line can still be told.
    const chainId = chain?.id ?? 0;
    const builtIn: [string, string][] = [
      ["protocol", indexer.protocol],
      ["chain", slug],
      ["chain_id", String(chainId)],
    ];
    const values = new Map([...ownValues(indexer, path, overrides), ...builtIn]);
    return [{ slug, chainId, scope: { indexer, path, overrides, values } }];
  });
}

const TEMPLATE_KEYS = ["url", "explorer", "playground"] as const;

interface Entry {
  readonly slug: string;
  readonly path: Path;
  readonly overrides: ChainValues;
}

function entriesOf({ entry, path, resolving }: IndexerScope): readonly Entry[] {
  const { chains } = entry;
  const listPath = [...path, "chains"];
  const entries = Array.isArray(chains)
    ? chains.map((slug, index) => ({ slug, path: [...listPath, index], overrides: {} }))
    : Object.entries(chains).map(([slug, overrides]) => ({ slug, path: [...listPath, slug], overrides }));
  if (entries.length === 0 && !resolving.touches(listPath)) {
    resolving.tell(listPath, "Cannot use an empty list of chains: expected at least one");
  }
  return entries;
}

function tellUnknown(
  { resolving }: IndexerScope,
  path: Path,
  { slug, known }: { readonly slug: string; readonly known: readonly string[] },
): void {
  if (!resolving.touches(["chains", slug])) {
    resolving.tellKey(path, `Cannot find chain "${slug}" in the section chains${didYouMean(slug, known)}`);
  }
}

function ownValues(
  { resolving }: IndexerScope,
  path: Path,
  overrides: ChainValues,
): readonly [string, string][] {
  return ownKeys(overrides).flatMap((name): [string, string][] => {
    const value = overrides[name] ?? null;
    if (value === null) {
      return [];
    }
    // A number as it is written: 1.10 is not 1.1 to a template.
    const text = typeof value === "string" ? value : resolving.sourceOf([...path, name]);
    return [[name, text ?? String(value)]];
  });
}

/** A value that no template uses is a key that nobody knows: most likely a typing error. */
function checkOwnValues(indexer: IndexerScope, path: Path, overrides: ChainValues): void {
  const { entry, resolving } = indexer;
  const templates = [entry, overrides].flatMap((from) => TEMPLATE_KEYS.map((key) => from[key] ?? ""));
  const used = templates.flatMap(placeholdersOf);
  const isUnsure =
    templates.some((template) => parseTemplate(template).kind === "unreadable") ||
    TEMPLATE_KEYS.some((key) => resolving.touches([...indexer.path, key]));
  for (const name of ownKeys(overrides)) {
    const valuePath = [...path, name];
    if (BUILT_IN_VALUES.includes(name)) {
      resolving.tellKey(valuePath, `Cannot set "${name}": {${name}} always stands for the ${name} at hand`);
    } else if (!used.includes(name) && !isUnsure) {
      const hint = didYouMean(name, [...OVERRIDE_KEYS, ...used]);
      resolving.tellKey(valuePath, `Cannot use unknown key "${name}": no template has a {${name}}${hint}`);
    }
  }
}

function ownKeys(overrides: ChainValues): readonly string[] {
  return Object.keys(overrides).filter((key) => !OVERRIDE_KEYS.includes(key));
}
