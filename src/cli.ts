import { Argument, Command, CommanderError, Option } from "commander";
import { buildOf, CommandError, type CommandWorld, EXIT, type Flags } from "./commands/command-world.ts";
import { ConfigError } from "./config/problems.ts";
import { LOG_FORMATS, LOG_LEVELS } from "./io/log-options.ts";
import { StateLockedError } from "./io/state/lock.ts";
import { StateFileError, StatePathError } from "./io/state/path.ts";
import { isSystemError } from "./io/system-error.ts";

interface CommandSpec {
  readonly name: string;
  readonly about: string;
  readonly after?: string;
  readonly argument?: Argument;
  readonly options?: readonly Option[];
  readonly commands?: readonly CommandSpec[];
  /** Loads the function of the command, which returns the exit code. Loaded late, so that `--version` stays fast. */
  readonly load?: () => Promise<
    (flags: Flags, world: CommandWorld, args: readonly string[]) => number | Promise<number>
  >;
}

const EXIT_CODES_OF_CHECK = `
Exit codes:
  0  ok        every selected target is ok
  1  warning   something is not ok or data differ, but each protocol has a usable variant on
               each chain: ok, chain_halted, or lagging, syncing or throttled within the critical
               threshold
  2  critical  a protocol has no usable variant left on a chain; if a filter names a
               variant, only that variant counts
  3  unknown   nothing is known about a protocol on a chain, and nothing is critical; or the usage
               or configuration is wrong`;

const WATCH_NOTES = `
Nothing is written to disk: \`synclag init\` with the same arguments writes a chains.yaml.

Exit codes:
  0  Ctrl-C or SIGTERM
  1  an endpoint is not an indexer or RPC node that can be watched
  2  wrong usage`;

const FILTER = new Argument("[filter...]", "protocol, protocol/chain or protocol/chain/variant");
const CONFIG = option("--config <file>", "configuration file", "chains.yaml");
const CONFIG_OR_URL = option("--config <file>", "configuration file", "chains.yaml").conflicts("url");
const LISTEN = "--listen <host:port>";
const TESTNETS = ["page", "ticket", "none"];
const FILLED_IN = `\${VAR} and \${file:/path} are filled in`;

const STATE_FILE = "synclag.state.json next to the configuration";
const STORE_URL = "redis://HOST or rediss://USER:PASSWORD@HOST:PORT/DATABASE";

/** Options of commands that spend budgets, which may be kept in a store instead of the state file. */
const STORE = [
  option("--store <url>", `Redis or Valkey with shared budgets: ${STORE_URL} (default: SYNCLAG_STORE)`),
  option("--cluster <name>", "name of this fleet; several fleets may share a store (default: default)"),
].map((one) => one.conflicts(["url", "state"]));

/** How `probe`, `watch` and `init` ask an endpoint. */
const ASKING = [
  repeated("--header <header>", `header to send, such as 'Authorization: Bearer \${KEY}'`),
  option("--chain-id <n>", "id of the chain, if neither the reply nor the URL has it"),
  option("--timeout <duration>", "time limit of each request", "10s"),
];

const COMMANDS: readonly CommandSpec[] = [
  {
    name: "run",
    about: "poll the indexers in chains.yaml and serve the status page, API and metrics",
    options: [
      CONFIG,
      option("--watch-config", "reload when the configuration file or a secret file that it names changes"),
      option(LISTEN, "address of the HTTP server; overrides the file (default: 127.0.0.1:9855)"),
      option("--state <file>", `state file, kept across restarts (default: ${STATE_FILE})`),
      ...STORE,
      option("--web-config <file>", "exporter-toolkit web configuration file: TLS, users, headers"),
      option("--enable-lifecycle", "allow POST /-/reload"),
      option("--record <file>", "append every observation to this file, for `synclag replay`"),
      option("--log-level <level>", "minimum level to log", "info").choices(LOG_LEVELS),
      option("--log-format <format>", "log format (default: pretty on a terminal, else json)").choices(
        LOG_FORMATS,
      ),
    ],
    load: async () => (await import("./commands/run.ts")).run,
  },
  {
    name: "check",
    about: "print the current status, with the exit code of a monitoring plugin",
    after: EXIT_CODES_OF_CHECK,
    argument: FILTER,
    options: [
      CONFIG_OR_URL,
      option("--url <address>", `ask a running daemon instead of polling, e.g. 'https://USER:\${VAR}@HOST'`),
      stateOption(`polls with its budgets (default: asks a running daemon, else polls with ${STATE_FILE})`),
      ...STORE,
      option(
        "--max-lag <duration>",
        "treat targets further behind than this as lagging (e.g. 10m or '50 blocks')",
      ),
      format("table", "json", "prometheus", "nagios"),
    ],
    load: async () => (await import("./commands/check.ts")).check,
  },
  {
    name: "events",
    about: "print what happened: changes of status, incidents, starts and stops; the latest last",
    argument: FILTER,
    options: [
      CONFIG_OR_URL,
      option("--url <address>", "ask a running daemon instead of reading the file"),
      stateOption(`the events file is next to it (default: ${STATE_FILE})`),
      option("--since <time>", "an ISO 8601 time, or a duration before now such as 12h or 7d", "24h"),
      option("--limit <n>", "print only the latest n", "200"),
      option("--kind <kind>", "only status, pair, incident, parity, deployment or process"),
      option("--status <status>", "only changes from or to this status"),
      format("table", "json"),
    ],
    load: async () => (await import("./commands/events.ts")).events,
  },
  {
    name: "plan",
    about: "show the polling schedule and budget usage",
    options: [CONFIG, format("table", "json")],
    load: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "watch",
    about: "watch these endpoints in the terminal and on a page until Ctrl-C, without a configuration",
    after: WATCH_NOTES,
    argument: new Argument("<url...>", `URLs of indexers and RPC nodes; ${FILLED_IN}`),
    options: [...ASKING, option(LISTEN, "address of the page (default: 127.0.0.1:9855)")],
    load: async () => (await import("./commands/watch.ts")).watch,
  },
  {
    name: "init",
    about:
      "ask each endpoint what it is, and write a chains.yaml for them; without URLs, a chains.yaml to fill in",
    argument: new Argument("[url...]", `URLs of indexers and RPC nodes; ${FILLED_IN}`),
    options: [...ASKING, option("-o, --output <file>", "the file, which must not exist", "chains.yaml")],
    load: async () => (await import("./commands/init.ts")).init,
  },
  {
    name: "probe",
    about: "ask one endpoint what it serves, without a configuration; exits with 0 if it has a height",
    argument: new Argument("<url>", `URL of an indexer or RPC node; ${FILLED_IN}`),
    options: [
      option("--discover", "also ask at the usual paths of the server, such as /status"),
      ...ASKING,
      format("table", "json"),
    ],
    load: async () => (await import("./commands/probe.ts")).probe,
  },
  {
    name: "replay",
    about:
      "show what Synclag would have reported from a recording of `run --record`: changes or, as json, whole reports",
    argument: new Argument("<file...>", "recordings, the oldest first"),
    options: [
      CONFIG,
      option("--every <duration>", "time between two reports, by the clock of the recording", "30s"),
      repeated("--chain <slug>", "print only this chain"),
      format("table", "json"),
    ],
    load: async () => (await import("./commands/replay.ts")).replay,
  },
  {
    name: "export",
    about: "write files for running Synclag and its alerts, with your links",
    argument: new Argument(
      "<what>",
      "rules: for Prometheus; grafana: Grafana-managed rules; compose: Synclag with Prometheus and Alertmanager; systemd: a unit",
    ).choices(["rules", "grafana", "dashboards", "alertmanager", "compose", "systemd"]),
    options: [
      option("--url <url>", "URL of this Synclag, to which alerts and dashboards link"),
      option("--grafana <url>", "URL of Grafana, to which alerts link"),
      option(
        "--runbooks <url>",
        "URL of the runbooks (default: the pages of --url, which cannot be read while Synclag is down)",
      ),
      option("--testnets <how>", "highest severity of an alert about a testnet", "ticket").choices(TESTNETS),
      option("--job <name>", "Prometheus job whose metrics the rules read (default: every job)"),
      option("-o, --output <folder>", "where the files are written", "."),
    ],
    load: async () => (await import("./commands/export.ts")).exportFiles,
  },
  {
    name: "demo",
    about: "run everything against a simulated fleet, without keys or network",
    options: [
      option(LISTEN, "address of the HTTP server (default: 127.0.0.1:9855)"),
      option("--scenario <name>", "scenario to play: tour, calm or outage", "tour"),
      option("--speed <n>", "speed factor", "1"),
    ],
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  {
    name: "notify",
    about: "try the webhook of the configuration",
    commands: [
      {
        name: "test",
        about: "send one message to the URL of notify; exits with 0 if it is accepted",
        options: [CONFIG],
        load: async () => (await import("./commands/notify.ts")).notifyTest,
      },
    ],
  },
  {
    name: "config",
    about: "validate the configuration, or print its schema",
    commands: [
      {
        name: "check",
        about: "validate a configuration file and report all problems",
        argument: new Argument("[file]", "configuration file (default: chains.yaml)"),
        load: async () => (await import("./commands/config.ts")).configCheck,
      },
      {
        name: "schema",
        about: "print the JSON Schema of the configuration file",
        load: async () => (await import("./commands/config.ts")).configSchema,
      },
    ],
  },
];

/** `check` uses the exit codes of monitoring plugins, in which 2 is a critical state of the fleet. */
const CHECK_FAILED = 3;

/** Runs the command line and returns the exit code. */
export async function runCli(argv: readonly string[], world: CommandWorld): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = new Command("synclag")
    .description("Monitors the sync health of blockchain indexers and compares their variants on each chain")
    .version(buildOf(world).version)
    .exitOverride()
    .showHelpAfterError("(see --help)")
    .configureOutput({
      writeOut: (text) => world.out(text.trimEnd()),
      writeErr: (text) => world.err(text.trimEnd()),
    });
  const add = (parent: Command, spec: CommandSpec): void => {
    const { name, about, after = "", argument, options = [], commands = [], load } = spec;
    const command = parent.command(name).description(about).addHelpText("after", after);
    if (argument !== undefined) {
      command.addArgument(argument);
    }
    for (const one of options) {
      command.addOption(one);
    }
    for (const one of commands) {
      add(command, one);
    }
    if (load !== undefined) {
      command.action(async () => {
        refuseEmpty(command);
        const run = await load();
        exitCode = await run(command.opts<Flags>(), world, command.args);
      });
    }
  };
  for (const one of COMMANDS) {
    add(program, one);
  }
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    const code = exitCodeOf(error);
    if (!(error instanceof CommanderError)) {
      world.err(error instanceof Error ? error.message : String(error));
    }
    return argv[2] === "check" && code !== EXIT.ok ? CHECK_FAILED : code;
  }
}

/** The exit code for an error that the user or the system caused. A bug is thrown again. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) {
    return error.exitCode;
  }
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  if (error instanceof ConfigError || error instanceof StatePathError || error instanceof StateFileError) {
    return EXIT.usage;
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (error instanceof StateLockedError || isSystemError(cause)) {
    return EXIT.failure;
  }
  throw error;
}

/** An empty value is mostly a variable of the shell that is not set. @throws {CommandError} If an option or argument has one. */
function refuseEmpty(command: Command): void {
  const values = command.opts<Readonly<Record<string, unknown>>>();
  const named: readonly (readonly [name: string | undefined, value: unknown])[] = [
    ...command.options.map((one) => [one.long, values[one.attributeName()]] as const),
    ...command.args.map((value) => [command.registeredArguments[0]?.name(), value] as const),
  ];
  for (const [name, value] of named) {
    if (typeof value === "string" && value.trim() === "") {
      throw new CommandError(`Cannot use ${name} ${JSON.stringify(value)}: the value is empty`);
    }
  }
}

function option(flags: string, description: string, defaultValue?: unknown): Option {
  return new Option(flags, description).default(defaultValue);
}

function stateOption(description: string): Option {
  return option("--state <file>", `state file; ${description}`).conflicts("url");
}

/** The first format is the default. */
function format(...formats: readonly string[]): Option {
  return option("--format <format>", "output format", formats[0]).choices(formats);
}

function repeated(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`)
    .default([], "none")
    .argParser((value, former: readonly string[]) => [...former, value]);
}
