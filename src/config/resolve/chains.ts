import { destinationOf } from "../../budgets/destination.ts";
import type { Chain, Endpoint, Thresholds } from "../../core/model/fleet.ts";
import type { ConfigFile, ThresholdsEntry } from "../schema/config-file.ts";
import { durationLiteral } from "../schema/quantities.ts";
import type { Path } from "../yaml/config-error.ts";
import { withCredentials } from "./headers.ts";
import { SHARED_ENDPOINT } from "./indexer.ts";
import type { ResolveContext } from "./resolve-context.ts";
import { type Timing, timeWithoutBudget } from "./schedules.ts";
import { secretsInUrl } from "./secret-parts.ts";
import { type FillFailure, fillTemplate, joinParts, parseTemplate } from "./template.ts";
import { readWebUrl } from "./web-url.ts";

const DEFAULT_THRESHOLDS: Thresholds = {
  laggingMs: 10 * 60_000,
  criticalMs: 30 * 60_000,
  stalledMs: 10 * 60_000,
  staleMs: 5 * 60_000,
};

/** This much of the digest of a URL distinguishes the nodes of one chain. */
const RPC_DIGEST_CHARS = 12;

/** The chains of a file, in its order. */
export function resolveChains({ chains, thresholds }: ConfigFile, context: ResolveContext): readonly Chain[] {
  const common = withThresholds(DEFAULT_THRESHOLDS, thresholds);
  checkOrder(common, ["thresholds"], context);
  if (Object.keys(chains).length === 0 && !context.hasProblemAt(["chains"])) {
    context.addProblem(["chains"], "Cannot use an empty map: expected at least one chain");
  }
  const slugsById = new Map<number, string>();
  return Object.entries(chains).map(([slug, entry]) => {
    const path = ["chains", slug];
    if (slug === SHARED_ENDPOINT) {
      const message = `Cannot name a chain "${slug}": this is the name of an endpoint that serves several chains`;
      context.addKeyProblem(path, message);
    }
    const other = slugsById.get(entry.id);
    if (other !== undefined) {
      context.addProblem(
        [...path, "id"],
        `Cannot use chain id ${entry.id} twice: chain "${other}" has it too`,
      );
    }
    slugsById.set(entry.id, other ?? slug);
    const own = withThresholds(common, entry.thresholds);
    if (Object.keys(entry.thresholds).length > 0) {
      checkOrder(own, [...path, "thresholds"], context);
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
  context: ResolveContext,
): readonly Endpoint[] {
  const timing = timeWithoutBudget(poll.rpc_schedule);
  return Object.entries(chains).flatMap(([slug, { rpc }]) => {
    const nodes = new Map<string, Endpoint>();
    for (const [index, text] of rpc.entries()) {
      const path = ["chains", slug, "rpc", index];
      const url = resolveRpcUrl(text, path, context);
      const node = url && rpcEndpoint({ slug, url, timing }, context);
      if (node !== null && nodes.has(node.key)) {
        context.addProblem(
          path,
          `Cannot list a node twice: this URL is in the list of chain "${slug}" already`,
        );
      } else if (node !== null) {
        nodes.set(node.key, node);
      }
    }
    return [...nodes.values()];
  });
}

interface RpcNode {
  readonly slug: string;
  readonly url: URL;
  readonly timing: Timing;
}

/** The key begins so that people recognise the node, and ends so that two nodes of one host differ. */
function rpcEndpoint({ slug, url, timing }: RpcNode, { secrets }: ResolveContext): Endpoint {
  return {
    key: `rpc/${slug}/${url.host}/${destinationOf(url.href).slice(0, RPC_DIGEST_CHARS)}`,
    kind: "rpc",
    protocol: "",
    variant: "rpc",
    tier: "",
    name: slug,
    url: url.href,
    host: url.host,
    headers: withCredentials({}, url, secrets),
    dialect: "rpc",
    ...timing,
    budget: null,
    targets: [],
    chain: slug,
  };
}

function resolveRpcUrl(text: string, path: Path, { secrets, addProblem }: ResolveContext): URL | null {
  const filled = fillTemplate(parseTemplate(text), { values: new Map(), secrets });
  if (filled.kind === "failed") {
    for (const failure of filled.failures) {
      addProblem(path, describeFailure(failure));
    }
    return null;
  }
  const read = readWebUrl(joinParts(filled.parts));
  if (read.kind === "invalid") {
    addProblem(path, read.message);
    return null;
  }
  secrets.remember(secretsInUrl(filled.parts));
  return read.url;
}

function describeFailure(failure: FillFailure): string {
  switch (failure.kind) {
    case "invalid":
      return failure.message;
    case "no value":
      return "Cannot use placeholders in rpc: write each URL in full";
    case "unset":
      return `Cannot resolve this value: ${failure.message}; set it, or remove this URL`;
  }
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

function checkOrder({ laggingMs, criticalMs }: Thresholds, path: Path, context: ResolveContext): void {
  if (laggingMs > criticalMs) {
    const [lagging, critical] = [durationLiteral(laggingMs), durationLiteral(criticalMs)];
    context.addProblem(path, `Cannot use thresholds: lagging ${lagging} is above critical ${critical}`);
  }
}
