import type { ChainState } from "../core/head/chain-state.ts";
import type { Incident } from "../core/model/report.ts";
import type { Monitor, SavedMonitor } from "./monitor.ts";
import type { CountersGroup, PollCounters, SavedCounters } from "./polling/counters.ts";
import type { DialectCache } from "./polling/dialect-cache.ts";
import type { ParityCounters } from "./polling/parity-counters.ts";

/** Everything that another replica needs to go on from here; what has not changed is the same object, or has the same revision. */
export interface Handover extends SavedMonitor {
  readonly questions: { readonly revision: number; readonly save: () => Readonly<Record<string, number>> };
  readonly counters: readonly CountersGroup[];
  /** By probe and target. */
  readonly parityFailures: ReadonlyMap<string, number>;
}

/** What another replica has learned; times are by the clock of this process. */
export interface LearnedState {
  readonly chains: ReadonlyMap<string, ChainState>;
  /** Null: unchanged, as below. */
  readonly incidents: readonly Incident[] | null;
  readonly questions: ReadonlyMap<string, number> | null;
  readonly counters: ReadonlyMap<string, SavedCounters>;
  readonly parityFailures: ReadonlyMap<string, number>;
}

export interface HandoverSources {
  readonly monitor: Pick<Monitor, "save">;
  readonly dialects: Pick<DialectCache, "revision" | "save">;
  readonly counters: Pick<PollCounters, "groups">;
  readonly parityCounters: Pick<ParityCounters, "failures">;
}

export function takeHandover({ monitor, dialects, counters, parityCounters }: HandoverSources): Handover {
  const { chains, incidents } = monitor.save();
  return {
    chains,
    incidents,
    questions: { revision: dialects.revision, save: () => dialects.save() },
    counters: counters.groups(),
    parityFailures: parityCounters.failures(),
  };
}
