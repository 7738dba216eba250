import type { ChainState } from "../core/head/chain-state.ts";
import type { Incident } from "../core/model/report.ts";
import type { SavedMonitor } from "./monitor.ts";
import type { CountersGroup, SavedCounters } from "./polling/counters.ts";

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
