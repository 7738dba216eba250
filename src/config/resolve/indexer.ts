import type { StatusApi } from "../../core/model/fleet.ts";
import { DIALECTS } from "../../dialects/families.ts";
import type { ConfigFile } from "../schema/config-file.ts";
import type { IndexerEntry } from "../schema/indexer.ts";
import { describeValue } from "../schema/messages.ts";
import type { Path } from "../yaml/config-error.ts";
import { type Address, isDeploymentId, resolveAddress, resolveStatusApi } from "./address.ts";
import { DEPLOYMENT_VALUE, type ListedChain, listChains } from "./list-chains.ts";
import { type ChainScope, fillForChain, type IndexerScope } from "./resolve-context.ts";
import { joinParts, parseTemplate, placeholdersOf } from "./template.ts";
import { readWebUrl } from "./web-url.ts";

/** A chain as one indexer serves it. */
export interface ServedChain {
  readonly slug: string;
  readonly chainId: number;
  /** Null for a dialect that needs none. */
  readonly deployment: string | null;
  readonly explorer: string | null;
  readonly playground: string | null;
}

/** An endpoint without its schedule, which depends on the other endpoints of its budget. */
export interface EndpointPlan {
  readonly name: string;
  readonly address: Address;
  /** Asked why its target is not `ok`, or null. */
  readonly status: StatusApi | null;
  /** `auto`, or a node-cron expression. */
  readonly schedule: string;
  readonly schedulePath: Path;
  readonly chains: readonly ServedChain[];
}

/** An indexer without the schedules of its endpoints. */
export interface IndexerPlan {
  readonly protocol: string;
  readonly entry: IndexerEntry;
  readonly endpoints: readonly EndpointPlan[];
  /** Every chain that it lists, with the values of its placeholders; also where no endpoint could be resolved. */
  readonly listed: readonly Pick<ListedChain, "slug" | "scope">[];
  /** Why an optional indexer is not polled, or null. */
  readonly skipped: string | null;
}

/** The name of an endpoint that serves several chains with one URL. */
export const SHARED_ENDPOINT = "all";

/** Overrides that give a chain its own endpoint. */
const ENDPOINT_KEYS = ["url", "schedule", "headers", "budget"] as const;

/** Resolves the endpoints of one indexer. */
export function resolveIndexer(indexer: IndexerScope, chains: ConfigFile["chains"]): IndexerPlan {
  checkCustom(indexer);
  checkStatus(indexer);
  const listed = listChains(indexer, chains);
  const sharing = listed.filter((chain) => !hasOwnEndpoint(chain));
  const endpoints = [
    ...(sharing.length === 0 ? [] : [planEndpoint(SHARED_ENDPOINT, sharedScope(indexer), sharing)]),
    ...listed.filter(hasOwnEndpoint).map((chain) => planEndpoint(chain.slug, chain.scope, [chain])),
  ];
  return {
    protocol: indexer.protocol,
    entry: indexer.entry,
    endpoints: endpoints.filter((endpoint) => endpoint !== null),
    listed,
    skipped: indexer.entry.optional && indexer.unset.size > 0 ? [...indexer.unset].join(", ") : null,
  };
}

/** The id that the dialect needs. */
function resolveDeployment({ slug, scope }: ListedChain): string | null {
  const { indexer, path, values } = scope;
  const deployment = values.get(DEPLOYMENT_VALUE);
  if (deployment !== undefined && isDeploymentId(deployment)) {
    return deployment;
  }
  const wanted = `expected ${slug}: { deployment: Qm… }, the id that dialect ${indexer.entry.dialect} asks for`;
  if (deployment === undefined) {
    indexer.context.addProblem(path, `Cannot find the deployment of chain ${slug}: ${wanted}`);
  } else {
    const found = describeValue(deployment);
    indexer.context.addProblem([...path, DEPLOYMENT_VALUE], `Cannot use ${found} as a deployment: ${wanted}`);
  }
  return null;
}

function checkCustom({ entry, path, context }: IndexerScope): void {
  const isCustom = DIALECTS[entry.dialect]?.needs === "custom";
  if (isCustom && entry.custom === undefined && !context.hasProblemAt([...path, "custom"])) {
    context.addProblem(
      path,
      "Cannot use dialect custom without a block custom: expected custom: { query, height }",
    );
  }
  if (!isCustom && entry.custom !== undefined && !context.hasProblemAt([...path, "dialect"])) {
    context.addKeyProblem(
      [...path, "custom"],
      `Cannot use custom with dialect ${entry.dialect}: expected dialect: custom`,
    );
  }
}

function checkStatus({ entry, path, context }: IndexerScope): void {
  if (
    entry.status !== undefined &&
    DIALECTS[entry.dialect]?.takesStatus !== true &&
    !context.hasProblemAt([...path, "dialect"])
  ) {
    context.addKeyProblem(
      [...path, "status"],
      `Cannot use status with dialect ${entry.dialect}: expected dialect: graph`,
    );
  }
}

function hasOwnEndpoint({ scope: { overrides, indexer } }: ListedChain): boolean {
  return (
    ENDPOINT_KEYS.some((key) => overrides[key] !== undefined) ||
    placeholdersOf(indexer.entry.url).some((name) => name !== "protocol")
  );
}

function sharedScope(indexer: IndexerScope): ChainScope {
  return { indexer, path: indexer.path, overrides: {}, values: new Map([["protocol", indexer.protocol]]) };
}

function planEndpoint(name: string, scope: ChainScope, listed: readonly ListedChain[]): EndpointPlan | null {
  const { indexer, overrides, path } = scope;
  const address = resolveAddress(scope);
  const chains = listed.map((chain) => ({
    slug: chain.slug,
    chainId: chain.chainId,
    deployment: DIALECTS[indexer.entry.dialect]?.needs === "deployment" ? resolveDeployment(chain) : null,
    explorer: resolveLink("explorer", chain.scope),
    playground: resolveLink("playground", chain.scope),
  }));
  return address === null
    ? null
    : {
        name,
        address,
        status: resolveStatusApi(address.url, scope, listed),
        schedule: overrides.schedule ?? indexer.entry.schedule,
        schedulePath: [...(overrides.schedule === undefined ? indexer.path : path), "schedule"],
        chains,
      };
}

function resolveLink(key: "explorer" | "playground", scope: ChainScope): string | null {
  const { overrides, indexer, path } = scope;
  const own = overrides[key];
  const text = own === undefined ? indexer.entry[key] : own;
  // A variable in a link is a problem of its own, see `checkVariables`.
  if (text === undefined || text === null || text.includes("${")) {
    return null;
  }
  const linkPath = [...(own === undefined ? indexer.path : path), key];
  const parts = fillForChain(parseTemplate(text), linkPath, scope);
  if (parts === null) {
    return null;
  }
  const link = joinParts(parts);
  const read = readWebUrl(link);
  if (read.kind === "invalid") {
    indexer.context.addProblem(linkPath, read.message);
    return null;
  }
  return link;
}
