import { type EndpointRecord, GET } from "../core/model/exchange.ts";
import { type Endpoint, statusEndpointOf } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import { createRedact } from "../core/model/redact.ts";
import type { EndpointStates, RecentExchanges } from "./polling/endpoint-state.ts";

/**
 * Every endpoint of a chain with its index-node API, their last replies, and commands that repeat the requests.
 */
export function endpointRecords(
  secrets: readonly string[],
  chain: string,
  states: EndpointStates,
): readonly EndpointRecord[] {
  return states
    .all()
    .filter(({ endpoint }) => endpoint.chain === chain || endpoint.targets.some((one) => one.chain === chain))
    .flatMap(({ endpoint, exchanges, statusExchanges }) => {
      const own = { ...recordOf(endpoint, exchanges, secrets), kind: endpoint.kind };
      const api = statusEndpointOf(endpoint);
      return api === null
        ? [own]
        : [own, { ...recordOf(api, statusExchanges, secrets), kind: "status" as const }];
    });
}

function recordOf(
  endpoint: Endpoint,
  { replies, failures }: RecentExchanges,
  secrets: readonly string[],
): Omit<EndpointRecord, "kind"> {
  const last = [...replies, ...failures].toSorted((a, b) => b.sentAtMs - a.sentAtMs)[0];
  return {
    key: endpoint.key,
    targets: endpoint.targets.map(({ key }) => key),
    replies: [...replies],
    failures: [...failures],
    curl: last === undefined ? null : curlCommand(endpoint, last.asked, secrets),
  };
}

/** The poll of an endpoint as a shell command, without secrets; `body` is what was asked, as an exchange has it. */
export function curlCommand(
  { url, headers }: Pick<Endpoint, "url" | "headers">,
  body: string,
  secrets: readonly string[],
): string {
  const isGet = body === GET;
  const redact = redactFor(secrets);
  const all = isGet ? headers : { ...headers, "Content-Type": "application/json" };
  const headerArgs = Object.entries(all).map(([name, value]) => `-H ${quoted(redact(`${name}: ${value}`))}`);
  const data = isGet ? [] : [`-d ${quoted(body)}`];
  return ["curl -sS", quoted(redact(url)), ...headerArgs, ...data].join(" ");
}

const redactFor = memoize(createRedact);

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
