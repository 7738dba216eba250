import type { Endpoint } from "../../core/model/fleet.ts";
import type { ServerKind } from "../servers/answer.ts";

/** The software that most likely runs at an endpoint: by its URL first, then by its dialect. */
export function guessServerKind(
  endpoint: Pick<Endpoint, "kind" | "url" | "dialect" | "targets">,
): ServerKind {
  if (endpoint.kind === "rpc") {
    return "rpc";
  }
  const { hostname, pathname } = new URL(endpoint.url);
  if (/^\/api\/(?:[^/]+\/)?(?:subgraphs|deployments)\/id\//.test(pathname)) {
    return "gateway";
  }
  if (hostname === "api.studio.thegraph.com") {
    return "studio";
  }
  return byDialect(endpoint, pathname);
}

/** The dialects with one kind of server, of the same name. */
function isServerKind(
  dialect: string,
): dialect is "ponder" | "squid" | "subquery" | "graph-status" | "custom" {
  return ["ponder", "squid", "subquery", "graph-status", "custom"].includes(dialect);
}

function byDialect(
  { dialect, targets }: Pick<Endpoint, "dialect" | "targets">,
  pathname: string,
): ServerKind {
  if (isServerKind(dialect)) {
    return dialect;
  }
  // The version that the public fleet runs.
  const servesMany = dialect === "auto" && targets.length > 1;
  return dialect === "envio" || pathname.endsWith("/v1/graphql") || servesMany ? "envio-3.2" : "graph-node";
}
