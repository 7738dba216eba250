import type { Logger } from "pino";
import type { App } from "../app.ts";
import { StateHeldError } from "../io/state/lock.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";

/** Longer than any stop takes by its own deadlines; then the process ends all the same. */
const LONGEST_STOP_MS = 4_500;

/** Starts the daemon and keeps it until SIGTERM or SIGINT, or until it may not go on; SIGHUP reloads. Tells the exit code. */
export async function runUntilSignal(
  start: () => Promise<App>,
  { world, logger }: { readonly world: CommandWorld; readonly logger: Logger },
): Promise<number> {
  // Heeded from the first moment, so that a stop during the start is a stop and not a kill.
  const stopped = new Promise<string>((resolve) => {
    world.onSignal("SIGTERM", () => resolve("SIGTERM"));
    world.onSignal("SIGINT", () => resolve("SIGINT"));
  });
  let app: App;
  try {
    app = await start();
  } catch (error) {
    const why = error instanceof StateHeldError ? error.message : listenProblem(error);
    if (why === null) {
      throw error;
    }
    world.err(why);
    return EXIT.failure;
  }
  world.onSignal("SIGHUP", () => void app.reload().catch(world.crash));

  const why = await Promise.race([stopped, app.lost]);
  if (why instanceof Error) {
    logger.error({ detail: why.message }, "Stopping: another process has taken over");
  } else {
    logger.info({ signal: why }, "Stopping");
  }
  setTimeout(() => {
    logger.error("Cannot stop in time: exiting with polls under way");
    world.crash(new Error("Cannot stop in time"));
  }, LONGEST_STOP_MS).unref();
  await app[Symbol.asyncDispose]();
  return why instanceof Error ? EXIT.failure : EXIT.ok;
}

/** One sentence for an address that cannot be listened on, or null for anything else. */
function listenProblem(error: unknown): string | null {
  if (!(error instanceof Error && "syscall" in error && error.syscall === "listen")) {
    return null;
  }
  const code = "code" in error ? String(error.code) : "";
  const reasons: Record<string, string> = {
    EADDRINUSE: "another process listens there",
    EACCES: "not allowed",
    EADDRNOTAVAIL: "this machine does not have that address",
  };
  return `Cannot listen: ${error.message}: ${reasons[code] ?? code}; choose another with --listen`;
}
