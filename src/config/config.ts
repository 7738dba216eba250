import type { Fleet } from "../core/fleet.ts";

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

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Which targets a maintenance window marks; an absent key matches all. */
export interface MaintenanceMatch {
  readonly protocol?: string;
  readonly variant?: string;
  readonly tier?: string;
  readonly chain?: string;
}

/** Polled as ever, but marked. */
export type MaintenanceWindow = { readonly match: MaintenanceMatch } & (
  | { readonly kind: "once"; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: "recurring"; readonly schedule: string; readonly durationMs: number }
);

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
}
