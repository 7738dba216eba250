import type { Logger } from "pino";
import type { App } from "../app/app.ts";
import { StateLockedError } from "../io/state/lock.ts";
import { StatePathError } from "../io/state/path.ts";
import { CommandError, type CommandWorld, EXIT } from "./command-world.ts";

/** The time limit of a stop: longer than its own deadlines. Then the process exits. */
const MAX_STOP_MS = 4_500;

/**
 * Starts the daemon and keeps it until SIGTERM or SIGINT, or until another process takes its state file over; SIGHUP
 * reloads. Returns the exit code.
 *
 * @throws {CommandError} If it cannot start, for a reason that the user or the system is to blame for.
 */
export async function runUntilSignal(
  start: () => Promise<App>,
  world: CommandWorld,
  logger: Logger,
): Promise<number> {
  // Handled from the first moment: a signal during the start neither kills the process nor is forgotten.
  const stopped = new Promise<string>((resolve) => {
    world.onSignal("SIGTERM", () => resolve("SIGTERM"));
    world.onSignal("SIGINT", () => resolve("SIGINT"));
  });
  const starting = start();
  world.onSignal("SIGHUP", () => {
    void starting.then(
      (started) => started.reload().catch(world.crash),
      // The start itself failed, which is reported below.
      () => undefined,
    );
  });
  const app = await starting.catch((error: unknown) => {
    throw forUser(error);
  });

  const cause = await Promise.race([stopped, app.lockLost]);
  if (cause instanceof Error) {
    logger.error({ detail: cause.message }, "Stopping: another process took over the state file");
  } else {
    logger.info({ signal: cause }, "Stopping");
  }
  const deadline = setTimeout(() => {
    logger.error("Cannot stop in time: exiting with polls in flight");
    world.crash(new Error("Cannot stop in time"));
  }, MAX_STOP_MS);
  await app[Symbol.asyncDispose]();
  clearTimeout(deadline);
  return cause instanceof Error ? EXIT.failure : EXIT.ok;
}

/** A start error as the user sees it; a bug is passed on. */
function forUser(error: unknown): unknown {
  if (error instanceof StatePathError) {
    return new CommandError(error.message, { cause: error });
  }
  if (error instanceof StateLockedError) {
    return new CommandError(error.message, { cause: error, exitCode: EXIT.failure });
  }
  if (!(error instanceof Error && "syscall" in error && "code" in error)) {
    return error;
  }
  const code = String(error.code);
  // No other address helps where file descriptors have run out.
  const isListening = ["listen", "getaddrinfo"].includes(String(error.syscall)) && code !== "EMFILE";
  const message = isListening
    ? `Cannot listen: ${error.message}: ${LISTEN_REASONS[code] ?? code}; choose another with --listen`
    : `Cannot start: ${error.message}`;
  return new CommandError(message, { cause: error, exitCode: EXIT.failure });
}

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process listens there",
  EACCES: "not allowed",
  EADDRNOTAVAIL: "this machine does not have that address",
  EAI_AGAIN: "the name cannot be resolved",
  EINVAL: "it is not a valid address",
  ENOTFOUND: "the name cannot be resolved",
};
