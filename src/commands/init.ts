import { existsSync, writeFileSync } from "node:fs";
import { Secrets } from "../config/secrets.ts";
import { groupBy } from "../core/model/group-by.ts";
import { createRedact } from "../core/model/redact.ts";
import { formatCount } from "../core/model/text.ts";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import { hasCode } from "../io/system-error.ts";
import {
  type Attempt,
  askPlaces,
  bestOf,
  isFit,
  mostRequests,
  openClient,
  type PlaceResult,
  placesBeside,
  readChainId,
  readEndpoint,
  readHeaderFlags,
  typedPlace,
} from "./ask-endpoint.ts";
import { chainsLines, chainsOf, type FoundEndpoint } from "./chains-lines.ts";
import { CommandError, type CommandWorld, EXIT } from "./command-world.ts";
import { describeFailure } from "./describe-probe.ts";
import { KeyVariables } from "./key-variables.ts";
import { readDuration } from "./load-config.ts";

export interface InitFlags {
  readonly header: readonly string[];
  readonly chainId?: string;
  readonly timeout: string;
  readonly output: string;
}

/** For editors; `synclag config schema` prints the file that it names. */
const SCHEMA_LINE = "# yaml-language-server: $schema=./chains.schema.json";

/** In the package. */
const MINIMAL_FILE = "deploy/chains.minimal.yaml";

/**
 * `synclag init`: asks each endpoint what it is, and writes a chains.yaml for all of them; without URLs, one to fill in. A file
 * that exists stays as it is.
 *
 * @throws {CommandError} If the file exists or cannot be written, an argument is invalid, or no endpoint can be used.
 */
export async function init(urls: readonly string[], flags: InitFlags, world: CommandWorld): Promise<number> {
  const { output } = flags;
  if (existsSync(output)) {
    throw existing(output);
  }
  const probed = urls.length === 0 ? null : await probeAll(urls, flags, world);
  const minimal = () => world.readFile(`${world.packageRoot}${MINIMAL_FILE}`);
  write(output, probed === null ? minimal() : `${probed.lines.join("\n")}\n`);
  world.out(`Wrote ${output}${probed === null ? ": put your addresses in" : ""}`);
  const isDefault = output === "chains.yaml";
  const variables = probed?.variables ?? [];
  for (const line of [
    "",
    ...(variables.length === 0 ? [] : [`Set ${variables.join(", ")} in the environment first.`]),
    "Next:",
    `  synclag config check${isDefault ? "" : ` ${output}`}`,
    `  synclag run${isDefault ? "" : ` --config ${output}`}          # then open http://127.0.0.1:9855/`,
    "  synclag config schema > chains.schema.json   # completes and checks the file in your editor",
  ]) {
    world.out(line);
  }
  return EXIT.ok;
}

function existing(output: string): CommandError {
  return new CommandError(
    `Cannot write ${output}: it exists, and is never overwritten; name another with -o`,
  );
}

function write(output: string, text: string): void {
  try {
    writeFileSync(output, text, { flag: "wx" });
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      throw existing(output);
    }
    const message = `Cannot write ${output}: ${whyUnreadable(error)}`;
    throw new CommandError(message, { cause: error, exitCode: EXIT.failure });
  }
}

/** The lines of the file, and the variables that they name. */
async function probeAll(urls: readonly string[], flags: InitFlags, world: CommandWorld) {
  const headers = readHeaderFlags(flags.header);
  const chainId = readChainId(flags.chainId);
  const secrets = new Secrets(world);
  const endpoints = [...new Set(urls)].map((url) => {
    const { host, pathname } = new URL(readEndpoint(url, headers, secrets).url);
    // A URL without a path may name a server only: its usual paths are tried.
    return { url, host, places: [typedPlace(url), ...(pathname === "/" ? placesBeside(url) : [])] };
  });
  world.keepSecret(secrets.all);
  const redact = createRedact(secrets.all);
  const variables = new KeyVariables([...urls, ...flags.header]);
  const hidden = variables.inHeaders(headers);
  await using client = openClient(readDuration("--timeout", flags.timeout), world);
  const most = endpoints.reduce((sum, { places }) => sum + mostRequests(places), 0);
  world.err(`Asking ${formatCount(endpoints.length, "endpoint")}: at most ${most} requests`);
  const addressOf = (url: string) => readEndpoint(url, headers, secrets);
  const results = new Map<string, PlaceResult | undefined>();
  // One request at a time to each host.
  await Promise.all(
    [...groupBy(endpoints, ({ host }) => host).values()].map(async (ofHost) => {
      for (const { url, places } of ofHost) {
        results.set(
          url,
          bestOf(await askPlaces(places, addressOf, client, (attempts) => attempts.some(isFit))),
        );
      }
    }),
  );
  const found: FoundEndpoint[] = [];
  const notes: string[] = [];
  for (const { url } of endpoints) {
    const { attempts, url: best } = results.get(url) ?? { attempts: [], url };
    const fit = attempts.find(isFit);
    const address = { url: variables.inUrl(best), headers: hidden };
    const chains = fit === undefined ? [] : chainsOf(address.url, chainId, fit);
    const why = whyUnusable(fit, attempts, chains);
    const names = chains.map(({ slug }) => slug).join(", ");
    world.out(redact(`  ${address.url}: ${why ?? `${fit?.dialect ?? ""}, ${names}`}`));
    if (fit !== undefined && why === null) {
      found.push({ ...address, dialect: fit.dialect, chains });
    } else {
      notes.push(redact(`#   ${address.url}: ${why ?? ""}`));
    }
  }
  if (found.every(({ dialect }) => dialect === "rpc")) {
    const message = `Cannot write ${flags.output}: none of these endpoints answered as an indexer whose chain is known`;
    throw new CommandError(message, { exitCode: EXIT.failure });
  }
  const lines = chainsLines(found);
  return {
    lines: [SCHEMA_LINE, ...lines, ...(notes.length === 0 ? [] : ["# Not in this file:", ...notes])],
    variables: variables.names.filter((name) => lines.join("\n").includes(`\${${name}}`)),
  };
}

/** Why an endpoint cannot be used, or null. */
function whyUnusable(
  fit: Attempt | undefined,
  attempts: readonly Attempt[],
  chains: FoundEndpoint["chains"],
): string | null {
  if (fit === undefined) {
    return describeFailure(attempts);
  }
  if (fit.indexNode !== null) {
    return `index-node API of ${fit.indexNode}: name it as status beside a graph indexer`;
  }
  return chains.length > 0 ? null : `dialect ${fit.dialect} without a chain id: run again with --chain-id`;
}
