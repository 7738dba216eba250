import type { Config } from "../config/config.ts";
import { type EndpointRecord, GET } from "../core/model/exchange.ts";
import { type Endpoint, statusEndpointOf } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import { createRedact } from "../core/model/redact.ts";
import type { EndpointStates, RecentExchanges } from "./polling/endpoint-state.ts";

type Sources = Pick<Config, "secrets" | "variables">;

/**
 * Every endpoint of a chain with its index-node API, their last replies, and commands that repeat the requests.
 */
export function endpointRecords(
  sources: Sources,
  chain: string,
  states: EndpointStates,
): readonly EndpointRecord[] {
  return states
    .all()
    .filter(({ endpoint }) => endpoint.chain === chain || endpoint.targets.some((one) => one.chain === chain))
    .flatMap(({ endpoint, exchanges, statusExchanges }) => {
      const own = { ...recordOf(endpoint, exchanges, sources), kind: endpoint.kind };
      const api = statusEndpointOf(endpoint);
      return api === null
        ? [own]
        : [own, { ...recordOf(api, statusExchanges, sources), kind: "status" as const }];
    });
}

function recordOf(
  endpoint: Endpoint,
  { replies, failures }: RecentExchanges,
  sources: Sources,
): Omit<EndpointRecord, "kind"> {
  const last = [...replies, ...failures].toSorted((a, b) => b.sentAtMs - a.sentAtMs)[0];
  return {
    key: endpoint.key,
    targets: endpoint.targets.map(({ key }) => key),
    replies: [...replies],
    failures: [...failures],
    curl: last === undefined ? null : curlCommand(endpoint, last.asked, sources),
  };
}

/**
 * The poll of an endpoint as a shell command. `body`: the value of `asked` in an exchange. If the configuration takes a value
 * from a variable or a file, the command does as well; a key that is written in the configuration is redacted.
 */
export function curlCommand(
  { url, headers }: Pick<Endpoint, "url" | "headers">,
  body: string,
  sources: Sources,
): string {
  const isGet = body === GET;
  const all = isGet ? headers : { ...headers, "Content-Type": "application/json" };
  const headerArgs = Object.entries(all).map(([name, value]) => `-H ${quoted(`${name}: ${value}`, sources)}`);
  const data = isGet ? [] : [`-d ${singleQuoted(body)}`];
  return ["curl -sS", quoted(url, sources), ...headerArgs, ...data].join(" ");
}

const redactFor = memoize(createRedact);

/** A text for the shell: in double quotes if the shell has to expand a variable, else in single quotes. */
function quoted(text: string, { secrets, variables }: Sources): string {
  // Each variable is replaced by a character that no URL has, while the rest is redacted and escaped.
  const marks = variables.map((variable, index) => ({
    ...variable,
    mark: String.fromCodePoint(0xe000 + index),
  }));
  const marked = marks.reduce((rest, { text: found, mark }) => rest.replaceAll(found, mark), text);
  const redacted = redactFor(secrets)(marked);
  if (marked === text) {
    return singleQuoted(redacted);
  }
  const escaped = redacted.replace(/[\\"`$]/g, "\\$&");
  return `"${marks.reduce((rest, { mark, shown }) => rest.replaceAll(mark, () => shown), escaped)}"`;
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
