import { runCli } from "../../src/cli.ts";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { commandWorld } from "../support/command-world.ts";

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Files by the paths that the command reads them under; other paths are real. Null: the file does not exist. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly world?: Partial<CommandWorld>;
}

export interface CommandResult {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `synclag ARGS` in this process. */
export async function runCommand(
  args: readonly string[],
  { env = {}, files = {}, world: overrides = {} }: CommandOptions = {},
): Promise<CommandResult> {
  const { world, printed } = commandWorld(env);
  const exitCode = await runCli(["node", "synclag", ...args], {
    ...world,
    readFile: (path) => {
      const text = files[path];
      if (text === null) {
        throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: "ENOENT" });
      }
      return text ?? world.readFile(path);
    },
    ...overrides,
  });
  return { exitCode, out: printed.out.join("\n"), err: printed.err.join("\n") };
}

/** What a terminal would show of it. */
export function transcriptOf(args: readonly string[], { exitCode, out, err }: CommandResult): string {
  const shown = args.map((arg) => (/^[\w./:=-]+$/.test(arg) ? arg : `'${arg}'`)).join(" ");
  const parts = [`$ synclag ${shown}`, out, err, `exit code ${exitCode}`];
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part}\n`)
    .join("");
}
