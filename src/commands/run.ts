import { type App, startApp } from "../app/app.ts";
import type { Config } from "../config/config.ts";
import { readProxySettings, readStoreFlags } from "../config/options.ts";
import { createRedact } from "../core/model/redact.ts";
import type { LogFormat, LogLevel } from "../io/log-options.ts";
import { createLogger } from "../io/logger.ts";
import { openRecordingFile } from "../io/recording-file.ts";
import { WatchedFiles } from "../io/watched-files.ts";
import { buildOf, type CommandWorld, colorsFor } from "./command-world.ts";
import { defaultStateFile, loadConfig, openWebConfig, readListen } from "./load-config.ts";
import { runUntilSignal } from "./run-until-signal.ts";

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
  const listen = readListen(flags.listen);
  const store = readStoreFlags(flags, world);
  world.keepSecret(store?.secrets ?? []);
  const files = new WatchedFiles(world);
  const load = (): Config => {
    files.startOver();
    const config = loadConfig(flags.config, {
      ...world,
      readFile: (path) => files.read(path),
      listFiles: (folder, pattern) => files.list(folder, pattern),
    });
    // The command line wins over the file.
    return listen === null ? config : { ...config, listen };
  };
  const config = load();
  const proxy = readProxySettings(world.env);
  const web = flags.webConfig === undefined ? null : openWebConfig(flags.webConfig, world, () => logger);

  let lostLogLines = 0;
  const secrets = new Set([...config.secrets, ...(store?.secrets ?? [])]);
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
  using recording = flags.record === undefined ? null : openRecordingFile(flags.record, { logger });
  const stateFile = flags.state ?? defaultStateFile(flags.config);
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
      stateFile: store === null ? stateFile : null,
      store,
      formerStateFile: stateFile,
      recording,
      web,
      proxy,
    });
  return await runUntilSignal(start, world, logger);
}
