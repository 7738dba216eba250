/**
 * The least that a Node process can do for so many heights: undici and JSON.parse, with the settings of Synclag's own
 * client, and nothing around. `tsx floor-process.ts ORIGIN ENDPOINTS CONCURRENCY PERIOD_MS`; polls till it is ended.
 */
import { Agent, request } from "undici";
import { graph } from "../../src/dialects/graph.ts";
import { burst, untilPhase } from "../programs/bursts.ts";

const [origin = "", ...numbers] = process.argv.slice(2);
const [endpoints = 0, connections = 0, periodMs = 0] = numbers.map(Number);
const KEEP_ALIVE_MS = 45_000;
/** Node compiles what is hot. */
const WARM_UP_POLLS = 8_000;
/** Synclag's own rounds begin with the period: where both run at once, neither disturbs the other. */
const PHASE = 0.5;

const dispatcher = new Agent({
  connections,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  headersTimeout: 0,
  bodyTimeout: 0,
});
const body = JSON.stringify(graph.questions[0]?.body);
const headers = {
  "user-agent": "floor",
  accept: "application/json",
  "content-type": "application/json",
  "accept-encoding": "identity",
};
let highest = 0;

async function pollOne(index: number): Promise<void> {
  const response = await request(`${origin}/${index}`, { method: "POST", dispatcher, headers, body });
  const answer = JSON.parse(await response.body.text()) as {
    readonly data: { readonly _meta: { readonly block: { readonly number: number } } };
  };
  highest = Math.max(highest, answer.data._meta.block.number);
}

await burst(WARM_UP_POLLS, connections, pollOne);
while (highest >= 0) {
  await untilPhase(periodMs, PHASE);
  await burst(endpoints, connections, pollOne);
}
