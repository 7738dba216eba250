import type { Logger } from "pino";
import type { Config } from "./config/config.ts";
import type { LiveWebSettings } from "./io/http-server/settings.ts";

/** The outside of the daemon, so that a test or the demo can hand in another one. */
export interface World {
  readonly nowMs: () => number;
  /** Milliseconds of a clock that never jumps: durations are measured by it. */
  readonly monotonicMs: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Reads the configuration anew. @throws {ConfigError} If it cannot be used. */
  readonly loadConfig: () => Config;
  /** Called for a bug of ours, as opposed to a remote's failure. */
  readonly onBug: (error: unknown) => void;
  readonly build: Build;
  readonly isLifecycleEnabled: boolean;
  /** Where what is known is kept from one process to the next; null where it is not. */
  readonly stateFile: string | null;
  /** TLS, users, headers and limits of our own server; without it plain HTTP for everybody. */
  readonly web?: LiveWebSettings | null;
}

/** Which build this is, for the User-Agent and the metric `synclag_build_info`. */
export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}
