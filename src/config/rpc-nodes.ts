import { destinationOf } from "../budgets/accounts.ts";
import { fillWithoutValues, readFilledUrl, readHeaders, withCredentials } from "./address.ts";
import { checkDialect, type ListedChain, readBlocks } from "./dialect-blocks.ts";
import type { Sections } from "./fleet.ts";
import type { Draft } from "./indexers.ts";
import type { Spot } from "./problems.ts";
import { checkBudgetName } from "./schedules.ts";
import type { RpcEntry } from "./schema.ts";
import type { Secrets } from "./secrets.ts";

/** The characters of a URL's digest in a node's key. */
const DIGEST_CHARS = 12;

/** The RPC nodes of all chains. If a problem was added, the result must not be used. */
export function resolveRpcNodes(
  { budgets, chains, poll }: Sections,
  top: Spot,
  secrets: Secrets,
): readonly Draft[] {
  return [...(chains ?? [])].flatMap(([slug, chain]) =>
    (chain?.rpc ?? []).flatMap((entry, index) => {
      const spot = top.at("chains", slug, "rpc", index);
      const own = { slug, chainId: chain?.id ?? 0 };
      checkBudgetName(entry.budget, spot.at("budget"), budgets);
      checkDialect(entry, spot, [own], 1);
      const node = resolveRpcNode(own, entry, spot, secrets);
      const schedule = node?.schedule ?? poll?.rpc_schedule ?? "auto";
      return node && spot.claim(node.key)
        ? [{ endpoint: { ...node, schedule }, schedule: spot.at("schedule") }]
        : [];
    }),
  );
}

/** Null: a problem was added. The key begins so that people recognise the node, and ends so that two nodes of one host differ. */
function resolveRpcNode(chain: ListedChain, entry: RpcEntry, spot: Spot, secrets: Secrets) {
  const { slug, chainId } = chain;
  const { url: template, headers: written, budget = null, custom, metrics, ...rest } = entry;
  const fill = fillWithoutValues(secrets, "; set it, or remove this node");
  const url = readFilledUrl(template, new Map(), spot.at("url"), { secrets, fill });
  const headers = readHeaders(written, spot.at("headers"), secrets, fill);
  return url && headers
    ? {
        key: `rpc/${slug}/${url.host}/${destinationOf(url.href).slice(0, DIGEST_CHARS)}`,
        kind: "rpc" as const,
        protocol: "",
        variant: "rpc",
        tier: "",
        name: slug,
        url: url.href,
        host: url.host,
        headers: withCredentials(headers, url, secrets),
        // Its dialect with its blocks, its provider and its schedule.
        ...rest,
        ...readBlocks({ custom, metrics }, [chain]),
        pollIntervalMs: 0,
        budget,
        targets: [],
        chain: slug,
        chainId,
      }
    : null;
}
