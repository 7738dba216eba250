import { runCli } from "../../src/cli.ts";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { commandWorld } from "../support/command-world.ts";

/** Runs `synclag ARGS` in this process. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  otherwise: (world: CommandWorld) => Partial<CommandWorld> = () => ({}),
) {
  const { world, printed } = commandWorld(env);
  const exitCode = await runCli(["node", "synclag", ...args], { ...world, ...otherwise(world) });
  return { exitCode, out: printed.out.join("\n"), err: printed.err.join("\n") };
}
