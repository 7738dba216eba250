import type { Config } from "../config/config.ts";
import type { EndpointRecord, Exchanges } from "../core/model/exchange.ts";
import { endpointsOf } from "../core/model/fleet.ts";
import { curlCommand } from "./curl-command.ts";

/** Every endpoint that serves a chain, with its last replies and the command that repeats its poll. */
export function inspectChain(
  config: Pick<Config, "fleet" | "secrets" | "variables">,
  chain: string,
  exchangesOf: (endpointKey: string) => Exchanges,
): readonly EndpointRecord[] {
  return endpointsOf(config.fleet)
    .filter((endpoint) => endpoint.chain === chain || endpoint.targets.some((one) => one.chain === chain))
    .map((endpoint) => {
      const { replies, failures } = exchangesOf(endpoint.key);
      const last = [...replies, ...failures].toSorted((a, b) => b.sentAtMs - a.sentAtMs)[0];
      return {
        key: endpoint.key,
        kind: endpoint.kind,
        targets: endpoint.targets.map(({ key }) => key),
        replies,
        failures,
        curl: last === undefined ? null : curlCommand(endpoint, last.asked, config),
      };
    });
}
