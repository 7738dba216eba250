import type { Logger } from "pino";
import type { App } from "../app/app.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";

/** The time limit of a stop: longer than its own deadlines. Then the process exits. */
const MAX_STOP_MS = 4_500;

/**
 * Starts the daemon and keeps it until SIGTERM or SIGINT, or until another process takes its state file over; SIGHUP
 * reloads. Returns the exit code.
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
      // The start itself failed, which is thrown below.
      () => undefined,
    );
  });
  const app = await starting;

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
