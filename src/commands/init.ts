import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { formatCount } from "../core/model/text.ts";
import {
  type Attempt,
  describeRefusal,
  mostRequests,
  Prober,
  questionsAt,
  questionsBeside,
} from "./ask-endpoint.ts";
import { chainsYaml, endpointOf, type FoundEndpoint, KeyVariables } from "./chains-yaml.ts";
import { CommandError, type CommandWorld, EXIT, type Flags } from "./command-world.ts";

/** For editors; `synclag config schema` prints the file that it names. */
const SCHEMA_LINE = "# yaml-language-server: $schema=./chains.schema.json";
/** In the package. */
const MINIMAL_FILE = "deploy/chains.minimal.yaml";
/** A URL without a path may name a server only: its usual paths are tried. */
const SERVER = /^https?:\/\/[^/?#]+\/?(?:[?#]|$)/i;

/**
 * `synclag init`: asks each endpoint what it is, and writes a chains.yaml for all of them; without URLs, one to fill in. A file
 * that exists stays as it is.
 *
 * @throws {CommandError | ConfigError} If the file exists, an argument is invalid, or no endpoint can be used.
 */
export async function init(flags: Flags, world: CommandWorld, urls: readonly string[]): Promise<number> {
  const { output } = flags;
  if (existsSync(output)) {
    throw new CommandError(
      `Cannot write ${output}: it exists, and is never overwritten; name another with -o`,
    );
  }
  if (!existsSync(dirname(output))) {
    throw new CommandError(`Cannot write ${output}: there is no folder ${dirname(output)}`);
  }
  const text =
    urls.length === 0
      ? world.readFile(`${world.packageRoot}${MINIMAL_FILE}`)
      : await probeAll([...new Set(urls)], flags, world);
  writeFileSync(output, text, { flag: "wx" });
  world.out(`Wrote ${output}${urls.length === 0 ? ": put your addresses in" : ""}`);
  world.out(`Next: synclag config check ${output}, then synclag run --config ${output}`);
  return EXIT.ok;
}

/** The text of the file. */
async function probeAll(urls: readonly string[], flags: Flags, world: CommandWorld): Promise<string> {
  await using prober = new Prober(urls, flags, world);
  const variables = new KeyVariables([...urls, ...flags.header]);
  const questions = urls.map((url) => [
    ...questionsAt(url),
    ...(SERVER.test(url) ? questionsBeside(url) : []),
  ]);
  const most = questions.reduce((sum, asked) => sum + mostRequests(asked), 0);
  world.err(`Asking ${formatCount(urls.length, "endpoint")}: at most ${most} requests`);
  const found: FoundEndpoint[] = [];
  const notes: string[] = [];
  for (const [index, asked] of questions.entries()) {
    const { attempts, best } = await prober.ask(asked);
    const endpoint = best === undefined ? null : endpointOf(best, prober, variables);
    const url = endpoint?.address.url ?? variables.inUrl(urls[index] ?? "");
    const slugs = endpoint?.chains.map(({ slug }) => slug).join(", ") ?? "";
    const line = world.redact(
      `  ${url}: ${slugs === "" ? whyUnusable(attempts) : `${best?.dialect}, ${slugs}`}`,
    );
    world.out(line);
    if (endpoint === null || slugs === "") {
      notes.push(`#${line}\n`);
    } else {
      found.push(endpoint);
    }
  }
  if (found.every(({ dialect }) => dialect === "rpc")) {
    const message = `Cannot write ${flags.output}: none of these endpoints answered as an indexer whose chain is known`;
    throw new CommandError(message, { exitCode: EXIT.failure });
  }
  const yaml = `${SCHEMA_LINE}\n${chainsYaml(found)}`;
  const names = variables.names.filter((name) => yaml.includes(`\${${name}}`));
  if (names.length > 0) {
    world.out(`Set ${names.join(", ")} in the environment first.`);
  }
  return `${yaml}${notes.length === 0 ? "" : "# Not in this file:\n"}${notes.join("")}`;
}

function whyUnusable(attempts: readonly Attempt[]): string {
  // A rejected key says more than what the last of the other questions got.
  const rejected = attempts.find(({ refusal }) => refusal?.reason === "unauthorized");
  const refusal = (rejected ?? attempts.at(-1))?.refusal;
  return refusal ? describeRefusal(refusal) : "the reply has no chain id: run again with --chain-id";
}
