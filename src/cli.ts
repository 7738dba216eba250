import { Argument, Command, CommanderError, Option } from "commander";
import type { CheckFlags } from "./commands/check.ts";
import { buildOf, CommandError, type CommandWorld, EXIT } from "./commands/command-world.ts";
import type { DemoFlags } from "./commands/demo.ts";
import type { EventsFlags } from "./commands/events.ts";
import type { Exported, ExportFlags } from "./commands/export.ts";
import type { InitFlags } from "./commands/init.ts";
import type { PlanFlags } from "./commands/plan.ts";
import type { ProbeFlags } from "./commands/probe.ts";
import type { ReplayFlags } from "./commands/replay.ts";
import type { RunFlags } from "./commands/run.ts";
import { ConfigError } from "./config/problems.ts";
import { LOG_FORMATS, LOG_LEVELS } from "./io/log-options.ts";

const EXIT_CODES_OF_CHECK = `
Exit codes:
  0  ok        every selected target is ok
  1  warning   something is not ok, but each protocol has a usable variant on each chain:
               ok, or lagging, syncing or throttled within the critical threshold; or data differ
  2  critical  a protocol has no usable variant left on a chain; of a filter that names a
               variant, that variant alone counts
  3  unknown   nothing could be learned, or wrong usage or configuration`;

/** `check` uses the exit codes of monitoring plugins, in which 2 is a critical state of the fleet. */
const CHECK_FAILED = 3;

/**
 * Runs the command line and returns the exit code. The code of a command is loaded when it runs, so that `--version`
 * stays fast.
 */
export async function runCli(argv: readonly string[], world: CommandWorld): Promise<number> {
  let exitCode: number = EXIT.ok;
  let isCheck = false;
  const program = new Command("synclag")
    .description("Monitors the sync health of blockchain indexers and compares their variants on each chain")
    .version(buildOf(world).version)
    .exitOverride()
    .showHelpAfterError("(see --help)")
    .configureOutput({
      writeOut: (text) => world.out(text.trimEnd()),
      writeErr: (text) => world.err(text.trimEnd()),
    })
    .hook("preSubcommand", (_program, command) => {
      isCheck = command.name() === "check";
    });
  const exit = (code: number): void => {
    exitCode = code;
  };
  for (const add of [
    addRun,
    addCheck,
    addEvents,
    addPlan,
    addInit,
    addProbe,
    addReplay,
    addExport,
    addConfig,
    addDemo,
  ]) {
    add(program, world, exit);
  }
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? EXIT.ok : failed(EXIT.usage);
    }
    if (!(error instanceof ConfigError || error instanceof CommandError)) {
      throw error;
    }
    world.err(error.message);
    return failed(error instanceof CommandError ? error.exitCode : EXIT.usage);
  }

  function failed(code: number): number {
    return isCheck ? CHECK_FAILED : code;
  }
}

function addRun(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("run")
    .description("poll the indexers in chains.yaml and serve the status page, API and metrics")
    .option("--config <file>", "configuration file", "chains.yaml")
    .option("--watch-config", "reload when the configuration file or a secret file that it names changes")
    .option(
      "--listen <host:port>",
      "address of the HTTP server; overrides the file (default: 127.0.0.1:9855)",
    )
    .option(
      "--state <file>",
      "state file, kept across restarts (default: synclag.state.json next to the configuration)",
    )
    .addOption(storeOption().conflicts("state"))
    .addOption(clusterOption().conflicts("state"))
    .option("--web-config <file>", "exporter-toolkit web configuration file: TLS, users, headers")
    .option("--enable-lifecycle", "allow POST /-/reload")
    .option("--record <file>", "append every observation to this file, for `synclag replay`")
    .addOption(new Option("--log-level <level>", "minimum level to log").choices(LOG_LEVELS).default("info"))
    .addOption(
      new Option("--log-format <format>", "log format (default: pretty on a terminal, else json)").choices(
        LOG_FORMATS,
      ),
    )
    .action(async (flags: RunFlags) => {
      const { run } = await import("./commands/run.ts");
      exit(await run(flags, world));
    });
}

function addCheck(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("check")
    .description("print the current status, with the exit code of a monitoring plugin")
    .addHelpText("after", EXIT_CODES_OF_CHECK)
    .argument("[filter...]", "protocol, protocol/chain or protocol/chain/variant")
    .addOption(new Option("--config <file>", "configuration file").default("chains.yaml").conflicts("url"))
    .option(
      "--url <address>",
      `query a running daemon instead of polling, e.g. http://127.0.0.1:9855 or 'https://USER:\${VAR}@HOST'`,
    )
    .addOption(
      new Option(
        "--state <file>",
        "state file with the budgets to use (default: query the daemon on the configuration's listen address, or use synclag.state.json next to the configuration)",
      ).conflicts("url"),
    )
    .addOption(storeOption().conflicts(["url", "state"]))
    .addOption(clusterOption().conflicts(["url", "state"]))
    .option("--max-lag <duration>", "treat targets further behind than this as lagging (e.g. 10m)")
    .addOption(formatOption("table", "json", "prometheus", "nagios"))
    .action(async (filters: readonly string[], flags: CheckFlags) => {
      const { check } = await import("./commands/check.ts");
      exit(await check(filters, flags, world));
    });
}

function addEvents(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("events")
    .description("print what happened: changes of status, incidents, starts and stops; the latest last")
    .argument("[filter...]", "protocol, protocol/chain or protocol/chain/variant")
    .addOption(new Option("--config <file>", "configuration file").default("chains.yaml").conflicts("url"))
    .option(
      "--url <address>",
      "ask a running daemon, e.g. http://127.0.0.1:9855, instead of reading the file",
    )
    .addOption(
      new Option(
        "--state <file>",
        "state file beside which the events are (default: synclag.state.json next to the configuration)",
      ).conflicts("url"),
    )
    .option("--since <time>", "an ISO 8601 time, or how long ago, such as 12h or 7d", "24h")
    .option("--limit <n>", "print at most so many, the latest", "200")
    .option("--kind <kind>", "only status, pair, incident, parity, deployment or process")
    .option("--status <status>", "only changes from or to this status")
    .addOption(formatOption("table", "json"))
    .action(async (filters: readonly string[], flags: EventsFlags) => {
      const { events } = await import("./commands/events.ts");
      exit(await events(filters, flags, world));
    });
}

function addPlan(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("plan")
    .description("show the polling schedule and budget usage")
    .option("--config <file>", "configuration file", "chains.yaml")
    .addOption(formatOption("table", "json"))
    .action(async (flags: PlanFlags) => {
      const { plan } = await import("./commands/plan.ts");
      exit(plan(flags, world));
    });
}

function addInit(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("init")
    .description(
      "write a chains.yaml for these endpoints, after asking each what it is; without URLs, one to fill in",
    )
    .argument("[url...]", `URLs of indexers and RPC nodes; \${VAR} and \${file:/path} are filled in`)
    .addOption(headerOption())
    .option("--chain-id <n>", "the chain's number, where a reply does not have it")
    .option("--timeout <duration>", "time limit of each request", "10s")
    .option("-o, --output <file>", "the file, which must not exist", "chains.yaml")
    .action(async (urls: readonly string[], flags: InitFlags) => {
      const { init } = await import("./commands/init.ts");
      exit(await init(urls, flags, world));
    });
}

function addProbe(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("probe")
    .description("ask one endpoint what it serves, without a configuration; exit code 0: it has a height")
    .argument("<url>", `URL of an indexer or RPC node; \${VAR} and \${file:/path} are filled in`)
    .option("--discover", "ask at the usual addresses beside the URL too, such as /graphql and /status")
    .addOption(headerOption())
    .option("--chain-id <n>", "the chain's number, where the reply does not have it")
    .option("--timeout <duration>", "time limit of each request", "10s")
    .addOption(formatOption("table", "json"))
    .action(async (url: string, flags: ProbeFlags) => {
      const { probe } = await import("./commands/probe.ts");
      exit(await probe(url, flags, world));
    });
}

function addReplay(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("replay")
    .description("print what Synclag would have said of the observations that `run --record` wrote")
    .argument("<file...>", "recordings, the oldest first")
    .option("--config <file>", "configuration file", "chains.yaml")
    .option("--every <duration>", "recorded time between two reports", "30s")
    .option("--chain <slug>", "print only this chain; may be repeated", repeated, [])
    .addOption(
      new Option("--format <format>", "table: changes only; json: a line for each chain and report")
        .choices(["table", "json"])
        .default("table"),
    )
    .action(async (files: readonly string[], flags: ReplayFlags) => {
      const { replay } = await import("./commands/replay.ts");
      exit(await replay(files, flags, world));
    });
}

function addExport(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("export")
    .description("write files for running Synclag and its alerts, with your links")
    .addArgument(
      new Argument(
        "<what>",
        "rules: for Prometheus; grafana: Grafana-managed rules; compose: Synclag with Prometheus and Alertmanager; systemd: a unit",
      ).choices(["rules", "grafana", "dashboards", "alertmanager", "compose", "systemd"]),
    )
    .option("--url <url>", "address of this Synclag's page, where alerts and dashboards lead")
    .option("--grafana <url>", "address of Grafana, where alerts lead")
    .option(
      "--runbooks <url>",
      "address of the runbooks (default: of the repository, or those that Synclag serves)",
    )
    .addOption(
      new Option("--testnets <how>", "the most that an alert of a testnet does")
        .choices(["page", "ticket", "none"])
        .default("ticket"),
    )
    .option("--job <name>", "the job of Prometheus that the rules read (default: every one)")
    .option("-o, --output <folder>", "where the files are written", ".")
    .action(async (what: Exported, flags: ExportFlags) => {
      const { exportFiles } = await import("./commands/export.ts");
      exit(exportFiles(what, flags, world));
    });
}

function addConfig(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  const config = program.command("config").description("validate the configuration, or print its schema");
  config
    .command("check")
    .description("validate a configuration file and report all problems")
    .argument("[file]", "configuration file", "chains.yaml")
    .action(async (file: string) => {
      const { configCheck } = await import("./commands/config.ts");
      exit(configCheck(file, world));
    });
  config
    .command("schema")
    .description("print the JSON Schema of the configuration file")
    .action(async () => {
      const { configSchema } = await import("./commands/config.ts");
      exit(configSchema(world));
    });
}

function addDemo(program: Command, world: CommandWorld, exit: (code: number) => void): void {
  program
    .command("demo")
    .description("run everything against a simulated fleet, without keys or network")
    .option("--listen <host:port>", "address of the HTTP server (default: 127.0.0.1:9855)")
    .option("--scenario <name>", "scenario to play: tour, calm or outage", "tour")
    .option("--speed <n>", "speed factor", "1")
    .action(async (flags: DemoFlags) => {
      const { demo } = await import("./commands/demo.ts");
      exit(await demo(flags, world));
    });
}

/** Shared budgets; the variable is read by the command, from its world. */
function storeOption(): Option {
  return new Option(
    "--store <url>",
    "Redis or Valkey with the budgets that several processes share, in place of the state file: redis://HOST or rediss://USER:PASSWORD@HOST:PORT/DATABASE (default: SYNCLAG_STORE)",
  );
}

function clusterOption(): Option {
  return new Option("--cluster <name>", "fleets of different names share a store (default: default)");
}

function headerOption(): Option {
  return new Option(
    "--header <header>",
    `header to send to every URL, such as 'Authorization: Bearer \${KEY}'; may be repeated`,
  )
    .argParser(repeated)
    .default([]);
}

/** The first format is the default. */
function formatOption(...formats: readonly string[]): Option {
  return new Option("--format <format>", "output format").choices(formats).default(formats[0]);
}

/** Collects the values of an option that may be repeated. */
function repeated(value: string, former: readonly string[]): readonly string[] {
  return [...former, value];
}
