import type { Fleet } from "../core/model/fleet.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import type { Variable } from "./resolve/secrets.ts";
import type { ListenAddress } from "./schema/listen-address.ts";

/** How the daemon polls. Times in milliseconds, sizes in bytes. */
export interface PollSettings {
  /** Requests in flight, whole process. */
  readonly concurrency: number;
  readonly perHost: number;
  /** One deadline over connect, headers and body. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

/** A valid chains.yaml, with every template filled in and every secret read. */
export interface Config {
  /** The path as the user gave it. */
  readonly file: string;
  readonly listen: ListenAddress;
  readonly poll: PollSettings;
  readonly fleet: Fleet;
  readonly maintenance: readonly MaintenanceWindow[];
  /** Worth a line in the log, yet no reason to refuse the file. */
  readonly warnings: readonly string[];
  /** Every text that must never leave the process: values of variables and files, keys inside URLs and headers. */
  readonly secrets: readonly string[];
  /** Those of them that a shell can say by a name, longest first. */
  readonly variables: readonly Variable[];
}
