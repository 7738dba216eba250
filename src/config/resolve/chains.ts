import type { Chain, Endpoint, Thresholds } from "../../core/model/fleet.ts";
import type { ConfigFile, ThresholdsEntry } from "../schema/config-file.ts";
import { formatDuration } from "../schema/duration.ts";
import { type Headers, withCredentials } from "./headers.ts";
import { SHARED_ENDPOINT } from "./indexer.ts";
import type { ResolveContext } from "./resolve-context.ts";
import { timeWithoutBudget } from "./schedules.ts";
import { keysOf, readWebUrl } from "./web-url.ts";

const DEFAULT_THRESHOLDS: Thresholds = {
  laggingMs: 10 * 60_000,
  criticalMs: 30 * 60_000,
  stalledMs: 10 * 60_000,
  staleMs: 5 * 60_000,
};

/** The chains of a file, in its order. */
export function resolveChains(
  { chains, thresholds }: ConfigFile,
  resolving: ResolveContext,
): readonly Chain[] {
  const common = withThresholds(DEFAULT_THRESHOLDS, thresholds);
  checkOrder(common, ["thresholds"], resolving);
  if (Object.keys(chains).length === 0 && !resolving.touches(["chains"])) {
    resolving.tell(["chains"], "Cannot use an empty map: expected at least one chain");
  }
  const slugsById = new Map<number, string>();
  return Object.entries(chains).map(([slug, entry]) => {
    if (slug === SHARED_ENDPOINT) {
      resolving.tellKey(
        ["chains", slug],
        `Cannot name a chain "${slug}": that is the endpoint of a URL for all chains`,
      );
    }
    const twin = slugsById.get(entry.id);
    if (twin !== undefined) {
      resolving.tell(["chains", slug, "id"], `Cannot use chain id ${entry.id} twice: chain "${twin}" has it`);
    }
    slugsById.set(entry.id, twin ?? slug);
    const own = withThresholds(common, entry.thresholds);
    if (Object.keys(entry.thresholds).length > 0) {
      checkOrder(own, ["chains", slug, "thresholds"], resolving);
    }
    return {
      slug,
      id: entry.id,
      name: entry.name ?? slug,
      blockTimeMs: entry.block_time ?? null,
      testnet: entry.testnet,
      thresholds: own,
    };
  });
}

/** The JSON-RPC nodes of all chains. */
export function resolveRpcEndpoints(
  { chains, poll }: ConfigFile,
  resolving: ResolveContext,
): readonly Endpoint[] {
  const timing = timeWithoutBudget(poll.rpc_schedule);
  return Object.entries(chains).flatMap(([slug, { rpc }]) =>
    rpc.flatMap((text, index) => {
      const url = resolveRpcUrl(text, ["chains", slug, "rpc", index], resolving);
      const { secrets } = resolving;
      return url === null
        ? []
        : [rpcEndpoint({ slug, index, url, headers: withCredentials({}, url, secrets), ...timing })];
    }),
  );
}

function rpcEndpoint(node: {
  readonly slug: string;
  readonly index: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly schedule: string;
  readonly pollIntervalMs: number;
}): Endpoint {
  const { slug, index, url, headers, schedule, pollIntervalMs } = node;
  return {
    key: `rpc/${slug}/${index}`,
    kind: "rpc",
    protocol: "",
    variant: "rpc",
    tier: "",
    name: slug,
    url: url.href,
    host: url.host,
    headers,
    dialect: "rpc",
    schedule,
    pollIntervalMs,
    budget: null,
    targets: [],
    chain: slug,
  };
}

function resolveRpcUrl(
  text: string,
  path: readonly (string | number)[],
  { tell, secrets }: ResolveContext,
): URL | null {
  // A variable is told by `checkVariables`.
  if (text.includes("${")) {
    return null;
  }
  if (/[{}]/.test(text)) {
    tell(path, "Cannot fill placeholders in rpc: write each node's URL in full");
    return null;
  }
  const read = readWebUrl(text, text);
  if (read.kind === "unusable") {
    tell(path, read.message);
    return null;
  }
  secrets.remember(...keysOf(read.url));
  return read.url;
}

function withThresholds(
  base: Thresholds,
  { lagging, critical, stalled, stale }: ThresholdsEntry,
): Thresholds {
  return {
    laggingMs: lagging ?? base.laggingMs,
    criticalMs: critical ?? base.criticalMs,
    stalledMs: stalled ?? base.stalledMs,
    staleMs: stale ?? base.staleMs,
  };
}

function checkOrder(
  { laggingMs, criticalMs }: Thresholds,
  path: readonly string[],
  { tell }: ResolveContext,
): void {
  if (laggingMs > criticalMs) {
    const [lagging, critical] = [formatDuration(laggingMs), formatDuration(criticalMs)];
    tell(path, `Cannot use thresholds: lagging ${lagging} is above critical ${critical}`);
  }
}
