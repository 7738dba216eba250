import type { Budget, Chain, Endpoint, SkippedIndexer, Target } from "./fleet.ts";
import type { FailureReason } from "./observation.ts";

/** The statuses of a target: a closed list, of which the first that applies is taken. */
export const STATUSES = [
  "unknown",
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
  "missing",
  "failed",
  "diverged",
  "chain_halted",
  "stalled",
  "syncing",
  "lagging",
  "ok",
] as const;

export type Status = (typeof STATUSES)[number];

/** What is known of one target at one instant. Unknown is null, never 0. Times are whole milliseconds, as in the JSON. */
export interface TargetReport {
  readonly target: Target;
  readonly status: Status;
  /** Why the last poll failed, or null. */
  readonly reason: FailureReason | null;
  /** One sentence that explains the status. */
  readonly detail: string;
  /** Whether the last poll returned a usable height. */
  readonly up: boolean;
  /** Null once the evidence is stale. */
  readonly block: number | null;
  readonly blockTimestampSec: number | null;
  readonly lagBlocks: number | null;
  readonly lagMs: number | null;
  /** Whether `lagMs` is an estimate: the block is older than the history of the chain clock. */
  readonly lagExtrapolated: boolean;
  readonly lastSuccessMs: number | null;
  readonly lastAdvanceMs: number | null;
  readonly indexingErrors: boolean | null;
  readonly deployment: string | null;
  readonly deploymentChanges: number;
  /** Steps backward of the height, each counted once. */
  readonly regressions: { readonly reorg: number; readonly reindex: number };
  /** Whether it is the freshest healthy target of its protocol and chain. */
  readonly preferred: boolean;
  /** Whether it is inside a maintenance window: polls and statuses continue as usual. */
  readonly maintenance: boolean;
}

/** How far one target's variant is behind another's on the same chain, at one common instant. */
export interface GapReport {
  readonly target: Target;
  /** The variant of the protocol's first listed indexer. */
  readonly against: string;
  /** Positive: this target is behind `against`. */
  readonly blocks: number;
  readonly seconds: number | null;
  /** Half-width of the interval that contains the true gap. */
  readonly uncertaintyBlocks: number;
}

/** Whether two targets of one chain have the same value of one probe. */
export interface ParityReport {
  readonly probe: string;
  readonly target: Target;
  readonly against: Target;
  /** `unknown` until they could be compared, and once that is stale. */
  readonly result: "equal" | "different" | "unknown";
  /** What the result rests on; null while it is unknown. */
  readonly compared: {
    readonly block: number;
    readonly value: string;
    readonly againstValue: string;
    /** `against` minus this target, where both are numbers. */
    readonly difference: number | null;
  } | null;
  /** Since when the result holds; null while it is unknown. */
  readonly sinceMs: number | null;
  /** The latest comparison, whatever it said; null once it is stale. */
  readonly lastComparisonMs: number | null;
  /** Which of the two differs from others that are equal to one another; null where nothing shows that. */
  readonly odd: "target" | "against" | null;
  /** What each of the two said last. */
  readonly latest: { readonly target: LatestValue | null; readonly against: LatestValue | null };
  /** One sentence that explains the result. */
  readonly detail: string;
}

/** The value that a target gave last, and the height beside it. */
export interface LatestValue {
  readonly block: number;
  readonly value: string;
  readonly readMs: number;
}

/** The corroborated head of a chain. */
export interface ReferenceReport {
  readonly block: number;
  /** How many sources agree with it. */
  readonly sources: number;
  /** Keys of these: targets and RPC nodes. */
  readonly members: readonly string[];
  /** The sources that are excluded, and why. */
  readonly opposed: readonly { readonly source: string; readonly detail: string }[];
  /** The chain clock's time of that block, unix milliseconds. */
  readonly timeMs: number | null;
}

/** Where one source of a chain stands: a target, or an RPC node. */
export interface SourceStanding {
  readonly source: string;
  /** Its provider, where that is known. */
  readonly host: string | null;
  readonly block: number;
  /** `apart`: it neither stands level with the reference nor contradicts it, e.g. because it lags. */
  readonly stands: "agrees" | "apart" | "excluded" | "disputed";
  /** Why it is excluded, or on which side it stands where nothing is decided; else null. */
  readonly detail: string | null;
}

export interface ChainReport {
  readonly chain: Chain;
  readonly reference: ReferenceReport | null;
  /** Where every source stands that has said something lately, RPC nodes included. */
  readonly standings: readonly SourceStanding[];
  /** Who contradicts whom where there is no reference for that reason, and what would decide it; else null. */
  readonly dispute: string | null;
  /** As measured, in whole microseconds. */
  readonly blockIntervalMs: number | null;
  readonly targets: readonly TargetReport[];
  readonly gaps: readonly GapReport[];
  /** Every pair that is configured; empty where nothing is compared. */
  readonly parity: readonly ParityReport[];
}

/** One cause that explains the failures of many targets. */
export interface Incident {
  readonly scope: "network" | "host" | "endpoint" | "chain";
  readonly subject: string;
  readonly sinceMs: number;
  readonly detail: string;
  /** Keys of the targets that it explains. */
  readonly targets: readonly string[];
}

/** `scope subject`: the same incident from one report to the next. */
export function incidentKey({ scope, subject }: Pick<Incident, "scope" | "subject">): string {
  return `${scope} ${subject}`;
}

/** How much of a budget is left, by the stricter of the calendar and the rolling window. */
export interface BudgetReport {
  readonly budget: Budget;
  /** Null for a shared budget. */
  readonly endpoint: Endpoint | null;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Since when and until when the provider makes us wait, and why; left out while it does not. */
  readonly backOff?: string;
  /** Who has drawn how much of `used`, most first; left out where one process counts for itself. */
  readonly drawnBy?: readonly { readonly name: string; readonly requests: number }[];
}

/** Which of several processes that share a store made a report. */
export interface ReplicaReport {
  /** `cut_off`: it led last, and the store is away. `unsure`: its lease has expired, and the store has not answered since. */
  readonly role: "leader" | "standby" | "cut_off" | "unsure";
  readonly name: string;
  /** The name of the leader; null where there is none. */
  readonly leader: string | null;
  /** How old the knowledge is that the report was made of, in milliseconds; null: it has none from a leader yet. */
  readonly ageMs: number | null;
}

/** All outputs are made from one report, so that they cannot disagree. */
export interface Report {
  /** Absent where no store is shared. */
  readonly replica?: ReplicaReport;
  readonly generatedAtMs: number;
  readonly chains: readonly ChainReport[];
  readonly incidents: readonly Incident[];
  readonly budgets: readonly BudgetReport[];
  readonly skipped: readonly SkippedIndexer[];
}
