import { runCli } from "../src/cli.ts";
import { commandWorld } from "../test/support/command-world.ts";

const COMMANDS = /^ {2}(\w+) (?!\[command\])/gm;

/** `docs/cli.md`: the help of every command. */
export async function cliPage(): Promise<string> {
  const top = await helpOf([]);
  const names = [...top.matchAll(COMMANDS)].map(([, name = ""]) => name);
  const sections = await Promise.all(
    names.map(async (name) => `## ${name}\n\n${fenced(await helpWithin(name))}`),
  );
  return `# The command line

<!-- Made by \`npm run generate\` from the commands' help. -->

Which commands and options does Synclag have, and which exit codes?

Exit codes: 0 success, 1 failure, 2 wrong usage; [\`check\`](#check) has its own. Results go to stdout,
everything else to stderr.

Variables: \`SYNCLAG_STORE\` is the default of \`--store\`; \`HTTP_PROXY\`, \`HTTPS_PROXY\` and \`NO_PROXY\` name
the proxy for requests to indexers, messages and pings; \`NODE_EXTRA_CA_CERTS\` is a file with
certificates of further authorities.

${fenced(top)}

${sections.join("\n\n")}
`;
}

/** The help of a command, or of the commands below it. Its description is in the list of all. */
async function helpWithin(command: string): Promise<string> {
  const help = await helpOf([command]);
  const below = [...help.matchAll(COMMANDS)].map(([, name = ""]) => name);
  return help.includes("\nCommands:")
    ? (await Promise.all(below.map((name) => helpOf([command, name])))).join("\n\n")
    : help.replace(/^(Usage:.*\n)\n(?:.+\n)+/, "$1");
}

/** What `synclag … --help` prints, without the option that each command has. */
async function helpOf(command: readonly string[]): Promise<string> {
  const { world, printed } = commandWorld({});
  await runCli(["node", "synclag", ...command, "--help"], world);
  return printed.out
    .join("\n")
    .replace(/\n +-h, --help .*/g, "")
    .replace(/\n\nOptions:$/, "");
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}
