import type { Logger } from "pino";
import { type App, startApp } from "../app/app.ts";
import type { Config, ListenAddress } from "../config/config.ts";
import { readProxySettings, readStoreFlags, type StoreReading } from "../config/options.ts";
import { parseListenAddress } from "../config/quantities.ts";
import { createRedact } from "../core/model/redact.ts";
import type { LogFormat, LogLevel } from "../io/log-options.ts";
import { createLogger } from "../io/logger.ts";
import { openRecordingFile, type RecordingFile } from "../io/recording-file.ts";
import { isSystemError } from "../io/system-error.ts";
import { WatchedFiles } from "../io/watched-files.ts";
import { buildOf, type CommandWorld, EXIT } from "./command-world.ts";
import { defaultStateFile, loadConfig, openWebConfig, STATE_FILE_NOT_USED } from "./load-config.ts";
import { runUntilSignal } from "./run-until-signal.ts";
import { colorsFor } from "./terminal.ts";

export interface RunFlags {
  readonly config: string;
  readonly watchConfig?: true;
  readonly listen?: string;
  readonly webConfig?: string;
  readonly state?: string;
  readonly store?: string;
  readonly cluster?: string;
  readonly enableLifecycle?: true;
  readonly record?: string;
  readonly logLevel: LogLevel;
  readonly logFormat?: LogFormat;
}

/**
 * `synclag run`: the daemon, until SIGTERM or SIGINT; SIGHUP reloads, and so does a
 * changed file with `--watch-config`.
 *
 * @throws {ConfigError} If the configuration or the web configuration is invalid.
 */
export async function run(flags: RunFlags, world: CommandWorld): Promise<number> {
  const listen = flags.listen === undefined ? null : parseListenAddress(flags.listen);
  if (listen === null && flags.listen !== undefined) {
    world.err(
      `Cannot listen on ${JSON.stringify(flags.listen)}: expected HOST:PORT such as 127.0.0.1:9855 or [::1]:9855`,
    );
    return EXIT.usage;
  }
  const store = readStoreFlags(flags, world);
  if (store.kind === "unusable") {
    world.err(store.message);
    return EXIT.usage;
  }
  const storeSecrets = store.kind === "store" ? store.secrets : [];
  world.keepSecret(storeSecrets);
  const files = new WatchedFiles(world.readFile);
  const load = (): Config => {
    files.startOver();
    return withListen(loadConfig(flags.config, { ...world, readFile: (path) => files.read(path) }), listen);
  };
  const config = load();
  const proxy = readProxySettings(world.env);
  const web = flags.webConfig === undefined ? null : openWebConfig(flags.webConfig, world, () => logger);

  let lostLogLines = 0;
  const secrets = new Set([...config.secrets, ...storeSecrets]);
  let redact = createRedact([...secrets]);
  const logger = await createLogger({
    level: flags.logLevel,
    format: flags.logFormat ?? (world.errIsTerminal ? "pretty" : "json"),
    colour: colorsFor("err", world),
    redact: () => redact,
    write: world.err,
    onLost: () => {
      lostLogLines += 1;
    },
  });
  const recording = flags.record === undefined ? null : openRecording(flags.record, { world, logger });
  if (recording === "unusable") {
    return EXIT.usage;
  }
  using _closed = recording;
  const stateFile = flags.state ?? defaultStateFile(flags.config);
  warnOfUnusedFile(flags, store, logger);
  const start = (): Promise<App> =>
    startApp(config, {
      ...world,
      logger,
      loadConfig: () => {
        const next = load();
        // A key of the previous configuration stays secret.
        for (const secret of next.secrets) {
          secrets.add(secret);
        }
        redact = createRedact([...secrets]);
        return next;
      },
      hasConfigChanged: () => flags.watchConfig === true && files.haveChanged(),
      onBug: world.crash,
      build: buildOf(world),
      lostLogLines: () => lostLogLines,
      isLifecycleEnabled: flags.enableLifecycle ?? false,
      stateFile: store.kind === "store" ? null : stateFile,
      store: store.kind === "store" ? store.settings : null,
      formerStateFile: stateFile,
      recording,
      web,
      proxy,
    });
  return await runUntilSignal(start, { world, logger });
}

function openRecording(
  file: string,
  { world, logger }: { readonly world: Pick<CommandWorld, "err">; readonly logger: Logger },
): RecordingFile | "unusable" {
  try {
    return openRecordingFile(file, { logger });
  } catch (error) {
    if (!(isSystemError(error) && error instanceof Error)) {
      throw error;
    }
    world.err(`Cannot write the recording ${file}: ${error.message}; choose another with --record`);
    return "unusable";
  }
}

function warnOfUnusedFile({ state }: RunFlags, store: StoreReading, logger: Logger): void {
  if (store.kind === "store" && state !== undefined) {
    logger.warn(STATE_FILE_NOT_USED);
  }
}

/** The command line wins over the file. */
function withListen(config: Config, listen: ListenAddress | null): Config {
  return listen === null ? config : { ...config, listen };
}
