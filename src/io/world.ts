import type { Logger } from "pino";
import type { Config, ProxySettings, StoreSettings, WebSettingsSource } from "../config/config.ts";
import type { Event } from "../core/events/event.ts";
import type { SavedHistory } from "../core/history/history.ts";
import type { RecordingFile } from "./recording-file.ts";

/** The outside of the daemon, which a test or the demo can replace. */
export interface World {
  readonly nowMs: () => number;
  /** Milliseconds of a clock that never jumps, for durations. */
  readonly monotonicMs: () => number;
  /** Like `monotonicMs`, but it also advances while the machine is suspended. */
  readonly uptimeMs: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Reads the configuration again. @throws {ConfigError} If it cannot be used. */
  readonly loadConfig: () => Config;
  /**
   * Whether the files that `loadConfig` read have changed since and are completely written; called every few seconds. Default:
   * files are not watched.
   */
  readonly hasConfigChanged?: () => boolean;
  /** Called for a bug of Synclag, as opposed to a failure of a remote server. */
  readonly onBug: (error: unknown) => void;
  readonly build: Build;
  readonly isLifecycleEnabled: boolean;
  /** The path of the state file; null keeps no state. */
  readonly stateFile: string | null;
  /** The past to begin with, instead of one in a file: the demo plays a day in advance. Default: none. */
  readonly past?: Past | null;
  /** Called once if another process took over the state file: this one must stop. Default: `onBug`. */
  readonly onLockLost?: (error: Error) => void;
  /** The store that several processes share; replaces the state file. Default: no store. */
  readonly store?: StoreSettings | null;
  /** The path of the state file that was used before the store. Default: none. */
  readonly formerStateFile?: string | null;
  /** The proxy of requests to indexers, if there is one. */
  readonly proxy?: ProxySettings | null;
  /** The file that records every observation. Default: none. */
  readonly recording?: RecordingFile | null;
  /** TLS, users, headers and limits of our own server. Default: plain HTTP without authentication. */
  readonly web?: WebSettingsSource | null;
}

/** The past that a daemon has kept. */
export interface Past {
  readonly events: readonly Event[];
  readonly history: ReadonlyMap<string, SavedHistory>;
}

/** Which build this is, for the User-Agent and the metric `synclag_build_info`. */
export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}
