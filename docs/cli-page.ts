import { runCli } from "../src/cli.ts";
import { commandWorld } from "../test/support/command-world.ts";

const COMMANDS = /^ {2}(\w+) (?!\[command\])/gm;

/** `docs/cli.md`: the help of every command. */
export async function cliPage(): Promise<string> {
  const top = await helpOf([]);
  const names = [...top.matchAll(COMMANDS)].map(([, name = ""]) => name);
  const sections = await Promise.all(
    names.map(async (name) => `## ${name}\n\n${fenced(await helpOf([name]))}`),
  );
  return `# The command line

<!-- Made by \`npm run generate\` from the commands' help. -->

Which commands and options does Synclag have, and which exit codes?

Exit codes: 0 success, 1 failure, 2 wrong usage; [\`check\`](#check) has its own. Results go to stdout,
everything else to stderr.

Variables: \`SYNCLAG_STORE\` is the default of \`--store\`; \`HTTP_PROXY\`, \`HTTPS_PROXY\` and \`NO_PROXY\` name
the proxy for requests to indexers; \`NODE_EXTRA_CA_CERTS\` is a file with certificates of further
authorities.

${fenced(top)}

${sections.join("\n\n")}
`;
}

/** What `synclag … --help` prints, without the option that each command has. A command's description is in the list of all. */
async function helpOf(command: readonly string[]): Promise<string> {
  const { world, printed } = commandWorld({});
  await runCli(["node", "synclag", ...command, "--help"], world);
  const help = printed.out.join("\n").replace(/\n +-h, --help .*/g, "");
  return command.length === 0 ? help : help.replace(/^(Usage:.*\n)\n(?:.+\n)+/, "$1");
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}
