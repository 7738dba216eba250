import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { configJsonSchema } from "../config/schema.ts";
import { formatCount } from "../core/model/text.ts";
import {
  type Attempt,
  describeRefusal,
  type Findings,
  mostRequests,
  Prober,
  questionsAt,
  questionsBeside,
} from "./ask-endpoint.ts";
import { chainOfNameless, chainsYaml, endpointOf, KeyVariables } from "./chains-yaml.ts";
import { CommandError, type CommandWorld, EXIT, type Flags, writeOutput } from "./command-world.ts";

const SCHEMA_FILE = "chains.schema.json";
const SCHEMA_LINE = `# yaml-language-server: $schema=./${SCHEMA_FILE}`;
/** What `init` writes if the command line has no URLs; a path in the package. */
const MINIMAL_FILE = "deploy/chains.minimal.yaml";
/** A URL without a path: it names a server, whose usual paths are tried, too. */
const SERVER = /^https?:\/\/[^/?#]+\/?(?:[?#]|$)/i;

/**
 * `synclag init`: asks each endpoint what it is, and writes a chains.yaml for all of them, with its schema; without URLs, a
 * chains.yaml to fill in. A file that exists stays as it is. The exit code is 1 if an endpoint is left out.
 *
 * @throws {CommandError | ConfigError} If the file exists, an argument is invalid, or no endpoint can be used.
 */
export async function init(flags: Flags, world: CommandWorld, urls: readonly string[]): Promise<number> {
  const { output } = flags;
  if (existsSync(output)) {
    throw new CommandError(
      `Cannot write ${output}: it exists, and init never overwrites a file; name another with -o`,
    );
  }
  if (!existsSync(dirname(output))) {
    throw new CommandError(`Cannot write ${output}: there is no folder ${dirname(output)}`);
  }
  const { text, leftOut } =
    urls.length === 0
      ? { text: world.readFile(`${world.packageRoot}${MINIMAL_FILE}`), leftOut: 0 }
      : await probeAll([...new Set(urls)], flags, world);
  writeOutput(output, text, "wx");
  const schema = join(dirname(output), SCHEMA_FILE);
  const isNewSchema = !existsSync(schema);
  if (isNewSchema) {
    writeOutput(schema, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  }
  world.out(
    `Wrote ${output}${isNewSchema ? `, and ${schema} for editors` : ""}${urls.length === 0 ? ": put your addresses in" : ""}`,
  );
  world.out(`Next: synclag config check ${output}, then synclag run --config ${output}`);
  if (leftOut > 0) {
    world.err(
      `Left out ${leftOut} of ${formatCount(new Set(urls).size, "endpoint")}: the end of ${output} says why; to try again, name another file with -o`,
    );
  }
  return leftOut > 0 ? EXIT.failure : EXIT.ok;
}

/** The text of the file, and the number of endpoints that it leaves out. */
async function probeAll(urls: readonly string[], flags: Flags, world: CommandWorld) {
  const variables = new KeyVariables([...urls, ...flags.header]);
  const { asked, yaml } = await askAll(urls, flags, world, variables);
  const lines = asked.map(({ said }) => `  ${said}`);
  const notes = lines.flatMap((line, index) => (asked[index]?.endpoint === null ? [`#${line}\n`] : []));
  world.out(lines.join("\n"));
  if (yaml === null) {
    const message = `Cannot write ${flags.output}: none of these endpoints is an indexer with a known chain`;
    throw new CommandError(message, { exitCode: EXIT.failure });
  }
  const names = variables.names.filter((name) => yaml.includes(`\${${name}}`));
  if (names.length > 0) {
    world.out(`Set ${names.join(", ")} in the environment first.`);
  }
  const text = `${SCHEMA_LINE}\n${yaml}${notes.length === 0 ? "" : "# Not in this file:\n"}${notes.join("")}`;
  return { text, leftOut: notes.length };
}

/**
 * Asks each endpoint what it is. Returns a line about each, without secrets, and a chains.yaml for the usable endpoints, with
 * `variables` instead of keys. The chains.yaml is null if no endpoint is an indexer.
 */
export async function askAll(
  urls: readonly string[],
  flags: Flags,
  world: CommandWorld,
  variables: KeyVariables,
) {
  await using prober = new Prober(urls, flags, world);
  const questions = urls.map((url) => [
    ...questionsAt(url),
    ...(SERVER.test(url) ? questionsBeside(url) : []),
  ]);
  const most = questions.reduce((sum, asked) => sum + mostRequests(asked), 0);
  world.err(`Asking ${formatCount(urls.length, "endpoint")}: at most ${most} requests`);
  const findings: Findings[] = [];
  for (const asked of questions) {
    findings.push(await prober.ask(asked));
  }
  const asked = findings
    .map((one, index) => describeEndpoint(one, urls[index] ?? "", { findings, prober, variables }))
    .map(({ endpoint, said }) => ({ endpoint, said: world.redact(said) }));
  const found = asked.flatMap(({ endpoint }) => endpoint ?? []);
  return { asked, yaml: found.every(({ dialect }) => dialect === "rpc") ? null : chainsYaml(found) };
}

interface Asking {
  readonly findings: readonly Findings[];
  readonly prober: Prober;
  readonly variables: KeyVariables;
}

/** The endpoint that was found at a URL, or null, and a line about it. */
function describeEndpoint(
  { attempts, best }: Findings,
  typed: string,
  { findings, prober, variables }: Asking,
) {
  const replies = findings.flatMap(({ best: one }) =>
    one ? [{ ...one, url: variables.inUrl(one.url) }] : [],
  );
  const given = { id: prober.chainId, isOnly: findings.length === 1 };
  const chain = best ? chainOfNameless(best, replies, given) : null;
  const endpoint = best ? endpointOf(best, prober.headers, variables, chain?.id ?? null) : null;
  if (endpoint === null || endpoint.chains.length === 0) {
    const url = endpoint?.address.url ?? variables.inUrl(typed);
    return { endpoint: null, said: `${url}: ${best ? NO_CHAIN : whyRefused(attempts)}` };
  }
  const slugs = endpoint.chains.map(({ slug }) => slug).join(", ");
  const how = chain === null ? "" : ` (${chain.why})`;
  return { endpoint, said: `${endpoint.address.url}: ${endpoint.dialect}, ${slugs}${how}` };
}

const NO_CHAIN = "the reply names no chain: give its number with --chain-id";

function whyRefused(attempts: readonly Attempt[]): string {
  // A rejected key explains more than the last reply.
  const rejected = attempts.find(({ refusal }) => refusal?.reason === "unauthorized");
  const refusal = (rejected ?? attempts.at(-1))?.refusal;
  return refusal ? describeRefusal(refusal) : NO_CHAIN;
}
