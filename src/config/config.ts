import type { Fleet } from "../core/model/fleet.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import type { Variable } from "./resolve/secrets.ts";
import type { ListenAddress } from "./schema/listen-address.ts";

/** How the daemon polls. Times in milliseconds, sizes in bytes. */
export interface PollSettings {
  /** Maximum concurrent requests of the whole process. */
  readonly concurrency: number;
  readonly perHost: number;
  /** Deadline of a request: connect, headers and body together. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

/** A valid chains.yaml, with all templates filled and all secrets read. */
export interface Config {
  /** The path as the user gave it. */
  readonly file: string;
  readonly listen: ListenAddress;
  readonly poll: PollSettings;
  readonly fleet: Fleet;
  readonly maintenance: readonly MaintenanceWindow[];
  /** Logged at the start and after a reload. */
  readonly warnings: readonly string[];
  /** Texts that must never leave the process: values of variables and files, keys in URLs and headers. */
  readonly secrets: readonly string[];
  /** The secrets that come from variables and files, longest first. */
  readonly variables: readonly Variable[];
}
