import { Secrets } from "../config/secrets.ts";
import { createRedact } from "../core/model/redact.ts";
import {
  askPlaces,
  bestOf,
  mostRequests,
  openClient,
  placesBeside,
  readChainId,
  readEndpoint,
  readHeaderFlags,
  typedPlace,
} from "./ask-endpoint.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import { type ProbeReport, renderProbeJson, renderProbeText } from "./describe-probe.ts";
import { readDuration } from "./load-config.ts";

export interface ProbeFlags {
  /** Whether the usual URLs of the same server are asked too. */
  readonly discover?: true;
  readonly header: readonly string[];
  readonly chainId?: string;
  readonly timeout: string;
  readonly format: "table" | "json";
}

/**
 * `synclag probe URL`: asks one endpoint the questions of every dialect until one fits, and says what it serves.
 *
 * @throws {CommandError} If the URL or a flag cannot be used.
 */
export async function probe(url: string, flags: ProbeFlags, world: CommandWorld): Promise<number> {
  const headers = readHeaderFlags(flags.header);
  const chainId = readChainId(flags.chainId);
  const timeoutMs = readDuration("--timeout", flags.timeout);
  const secrets = new Secrets(world);
  readEndpoint(url, headers, secrets);
  world.keepSecret(secrets.all);
  const redact = createRedact(secrets.all);
  await using client = openClient(timeoutMs, world);
  const places = [typedPlace(url), ...(flags.discover === true ? placesBeside(url) : [])];
  if (places.length > 1) {
    world.err(`Asking at ${places.length} addresses: at most ${mostRequests(places)} requests`);
  }
  const addressOf = (at: string) => readEndpoint(at, headers, secrets);
  const results = await askPlaces(places, addressOf, client, () => false);
  const best = bestOf(results) ?? { url, attempts: [] };
  const report: ProbeReport = { ...best, headers, chainId, results };
  const text = flags.format === "json" ? renderProbeJson(report) : renderProbeText(report, world.nowMs());
  for (const line of text.split("\n")) {
    world.out(redact(line));
  }
  const hasHeight = best.attempts.some(({ rows }) => rows.some(({ content }) => content.kind === "head"));
  return hasHeight ? EXIT.ok : EXIT.failure;
}
