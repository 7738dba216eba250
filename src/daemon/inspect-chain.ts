import type { Config } from "../config/config.ts";
import type { EndpointRecord, Exchanges } from "../core/model/exchange.ts";
import { type Endpoint, endpointsOf, statusEndpointOf } from "../core/model/fleet.ts";
import { curlCommand } from "./curl-command.ts";

/**
 * Every endpoint that serves a chain, each with the index-node API beside it, their last replies and the commands that
 * repeat the requests.
 */
export function inspectChain(
  config: Pick<Config, "fleet" | "secrets" | "variables">,
  chain: string,
  exchangesOf: (endpointKey: string) => Exchanges,
): readonly EndpointRecord[] {
  const recordOf = (endpoint: Endpoint, kind: EndpointRecord["kind"]): EndpointRecord => {
    const { replies, failures } = exchangesOf(endpoint.key);
    const last = [...replies, ...failures].toSorted((a, b) => b.sentAtMs - a.sentAtMs)[0];
    return {
      key: endpoint.key,
      kind,
      targets: endpoint.targets.map(({ key }) => key),
      replies,
      failures,
      curl: last === undefined ? null : curlCommand(endpoint, last.asked, config),
      parity: kind === "indexer" ? parityQueries(endpoint, chain, config) : [],
    };
  };
  return endpointsOf(config.fleet)
    .filter((endpoint) => endpoint.chain === chain || endpoint.targets.some((one) => one.chain === chain))
    .flatMap((endpoint) => {
      const status = statusEndpointOf(endpoint);
      const own = recordOf(endpoint, endpoint.kind);
      return status === null ? [own] : [own, recordOf(status, "status")];
    });
}

function parityQueries(
  endpoint: Endpoint,
  chain: string,
  config: Pick<Config, "secrets" | "variables">,
): EndpointRecord["parity"] {
  const here = new Set(endpoint.targets.filter((target) => target.chain === chain).map(({ key }) => key));
  return (endpoint.parity ?? []).flatMap(({ probe, selections }) =>
    selections
      .filter(({ target }) => here.has(target))
      .map(({ target, select }) => ({
        probe,
        target,
        curl: curlCommand(endpoint, JSON.stringify({ query: `{ ${select} }` }), config),
      })),
  );
}
