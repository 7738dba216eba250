import { type App, runApp } from "../app/app.ts";
import type { Config } from "../config/config.ts";
import { whyUnwritable } from "../core/model/why-failed.ts";
import { openRecordingFile, type RecordingFileOptions } from "../io/recording-file.ts";
import { WatchedFiles } from "../io/watched-files.ts";
import type { World } from "../io/world.ts";
import { CommandError, type CommandWorld, cannotUse, EXIT, type Flags } from "./command-world.ts";
import { daemonWorld } from "./daemon-world.ts";
import { defaultStateFile, loadConfig, openWebConfig, readListen, readStore } from "./load-config.ts";

/**
 * `synclag run`: runs the daemon until SIGTERM or SIGINT. SIGHUP reloads the configuration and, with `--watch-config`, so does a
 * changed file.
 *
 * @throws {ConfigError} If the configuration or the web configuration is invalid.
 * @throws {CommandError} If an option is invalid, or `--record` names a file that is not a recording.
 */
export async function run(flags: Flags, world: CommandWorld): Promise<number> {
  const listen = readListen(flags.listen);
  const store = readStore(flags, world);
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
  const own = await daemonWorld(
    world,
    flags.logLevel,
    flags.logFormat ?? (world.errIsTerminal ? "pretty" : "json"),
  );
  const web = flags.webConfig === undefined ? null : openWebConfig(flags.webConfig, world, own.logger);
  const stateFile = flags.state ?? defaultStateFile(flags.config);
  const options = { logger: own.logger, stateFile };
  await using recording = flags.record === undefined ? null : await openRecording(flags.record, options);
  return await runUntilSignal(config, world, {
    ...own,
    loadConfig: load,
    hasConfigChanged: () => flags.watchConfig === true && files.haveChanged(),
    isLifecycleEnabled: flags.enableLifecycle ?? false,
    stateFile: store === null ? stateFile : null,
    store,
    formerStateFile: store === null ? null : stateFile,
    recording,
    web,
  });
}

/** @throws {CommandError} If the file cannot be opened, or is something else than a recording. */
async function openRecording(path: string, options: RecordingFileOptions) {
  const recording = await openRecordingFile(path, options).catch((cause: unknown) => {
    const message = `Cannot write the recording ${path}: ${whyUnwritable(cause)}; choose another file with --record`;
    throw new CommandError(message, { exitCode: EXIT.failure, cause });
  });
  if (recording === null) {
    throw cannotUse("--record", path, "a new file, or a recording");
  }
  return recording;
}

/** The time limit of a stop, longer than the deadlines of its steps. If a poll or a disk hangs longer, the process exits. */
const MAX_STOP_MS = 4_500;

/**
 * Runs the daemon until SIGTERM or SIGINT, or until another process takes its state file over; SIGHUP reloads. The result of
 * `onStarted` is disposed before the daemon. Returns the exit code.
 */
export async function runUntilSignal(
  config: Config,
  { onSignal, crash }: CommandWorld,
  world: World,
  onStarted: (app: App) => AsyncDisposable | null = () => null,
): Promise<number> {
  const { logger } = world;
  let stop: (cause: string | Error) => void = () => undefined;
  const stopped = new Promise<string | Error>((resolve) => {
    stop = resolve;
  });
  // The handlers are set before the start, so that a signal during the start is not lost and does not kill the process.
  onSignal("SIGTERM", () => stop("SIGTERM"));
  onSignal("SIGINT", () => stop("SIGINT"));
  let deadline: NodeJS.Timeout | undefined;
  let giveUp: (isLate: true) => void = () => undefined;
  const late = new Promise<true>((resolve) => {
    giveUp = resolve;
  });
  const ended = runApp(config, { ...world, onLockLost: stop }, async (app) => {
    await using _ofCaller = onStarted(app);
    onSignal("SIGHUP", () => void app.reload().catch(crash));
    const cause = await stopped;
    if (typeof cause === "string") {
      logger.info({ signal: cause }, "Stopping");
    } else {
      logger.error({ detail: cause.message }, "Stopping: another process took over the state file");
    }
    deadline = setTimeout(giveUp, MAX_STOP_MS, true);
  });
  const isLate = await Promise.race([late, ended]);
  clearTimeout(deadline);
  if (isLate === true) {
    logger.error("Cannot stop in time: exiting before everything is written");
    return EXIT.failure;
  }
  logger.info("Stopped");
  return typeof (await stopped) === "string" ? EXIT.ok : EXIT.failure;
}
