import { Command, CommanderError, Option } from "commander";
import { buildOf } from "./commands/build-info.ts";
import type { CheckFlags } from "./commands/check.ts";
import { type CommandWorld, EXIT } from "./commands/command-world.ts";
import type { DemoFlags } from "./commands/demo.ts";
import type { PlanFlags } from "./commands/plan.ts";
import type { RunFlags } from "./commands/run.ts";
import { LOG_FORMATS, LOG_LEVELS } from "./io/log-options.ts";

/** `check` has the exit codes of monitoring plugins, where 2 would be a fault of the fleet. */
const CHECK_USAGE = 3;

/**
 * Runs the command line and tells the exit code. A command's code is loaded when it is called, so that `--version`
 * loads nothing that it doesn't need.
 */
export async function runCli(argv: readonly string[], world: CommandWorld): Promise<number> {
  let exitCode: number = EXIT.ok;
  let usageCode: number = EXIT.usage;
  const program = createProgram(world, (code) => {
    exitCode = code;
  });
  program.hook("preSubcommand", (_program, command) => {
    usageCode = command.name() === "check" ? CHECK_USAGE : EXIT.usage;
  });
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
    return error.exitCode === 0 ? EXIT.ok : usageCode;
  }
}

function createProgram(world: CommandWorld, exit: (code: number) => void): Command {
  const program = new Command("synclag")
    .description("Watches the sync health of blockchain indexers and compares their variants per chain")
    .version(buildOf(world).version)
    .exitOverride()
    .showHelpAfterError("(see --help)")
    .configureOutput({
      writeOut: (text) => world.out(text.trimEnd()),
      writeErr: (text) => world.err(text.trimEnd()),
    });
  addRun(program, world, exit);
  addCheck(program, world, exit);
  addPlan(program, world, exit);
  addConfig(program, world, exit);
  addDemo(program, world, exit);
  return program;
}

function addRun(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("run")
    .description("poll the indexers of chains.yaml and serve page, API and metrics")
    .option("--config <file>", "configuration file", "chains.yaml")
    .option("--listen <host:port>", "where to serve; wins over the file (default: 127.0.0.1:9855)")
    .option(
      "--state <file>",
      "what outlives a restart (default: synclag.state.json beside the configuration)",
    )
    .option("--web-config <file>", "TLS, users and headers, as exporter-toolkit's file has them")
    .option("--enable-lifecycle", "allow POST /-/reload")
    .addOption(new Option("--log-level <level>", "least level to log").choices(LOG_LEVELS).default("info"))
    .addOption(
      new Option("--log-format <format>", "default: pretty on a terminal, else json").choices(LOG_FORMATS),
    )
    .action(async (flags: RunFlags) => {
      const { run } = await import("./commands/run.ts");
      exit(await run(flags, world));
    });
}

function addCheck(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("check")
    .description(
      "one look at the fleet: 0 all is ok, 1 something is not, 2 nothing fresh is left, 3 cannot tell",
    )
    .argument("[filter...]", "protocol, protocol/chain or protocol/chain/variant")
    .addOption(
      new Option("--config <file>", "configuration file of what to poll")
        .default("chains.yaml")
        .conflicts("url"),
    )
    .option(
      "--url <address>",
      `ask the daemon there, such as http://127.0.0.1:9855 or 'https://USER:\${VAR}@HOST', and poll nothing`,
    )
    .addOption(
      new Option(
        "--state <file>",
        "whose budgets to draw on (default: synclag.state.json beside the configuration)",
      ).conflicts("url"),
    )
    .option("--max-lag <duration>", "take what is ok but further behind, such as 10m, for lagging")
    .addOption(new Option("--format <format>").choices(["table", "json", "prometheus"]).default("table"))
    .action(async (filters: readonly string[], flags: CheckFlags) => {
      const { check } = await import("./commands/check.ts");
      exit(await check(filters, flags, world));
    });
}

function addPlan(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("plan")
    .description("tell what is polled how often, and what of each budget that takes")
    .option("--config <file>", "configuration file", "chains.yaml")
    .addOption(new Option("--format <format>").choices(["table", "json"]).default("table"))
    .action(async (flags: PlanFlags) => {
      const { plan } = await import("./commands/plan.ts");
      exit(plan(flags, world));
    });
}

function addConfig(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  const config = program.command("config").description("check the configuration, or describe it");
  config
    .command("check")
    .description("tell every problem of a configuration file at once")
    .argument("[file]", "configuration file", "chains.yaml")
    .action(async (file: string) => {
      const { configCheck } = await import("./commands/config-check.ts");
      exit(configCheck({ ...world, file }));
    });
  config
    .command("schema")
    .description("print the JSON Schema of the configuration file")
    .action(async () => {
      const { configSchema } = await import("./commands/config-schema.ts");
      exit(configSchema(world));
    });
}

function addDemo(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("demo")
    .description("the whole product against a simulated fleet: no key, no network")
    .option("--listen <host:port>", "where to serve (default: 127.0.0.1:9855)")
    .option("--scenario <name>", "what happens: tour, calm or outage", "tour")
    .option("--speed <n>", "how many times as fast it happens", "1")
    .action(async (flags: DemoFlags) => {
      const { demo } = await import("./commands/demo.ts");
      exit(await demo(flags, world));
    });
}
