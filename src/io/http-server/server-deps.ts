import type { HistorySlice, Span } from "../../core/history/history.ts";
import type { EndpointRecord } from "../../core/model/exchange.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Report } from "../../core/model/report.ts";

/** What the HTTP server reads: memory only, never an indexer. */
export interface ServerDeps {
  readonly report: () => Report;
  /** A stretch of a chain's past for the targets with these keys. */
  readonly past: (chain: string, keys: readonly string[], span: Span) => HistorySlice;
  /** Every endpoint that speaks of a chain, with what it said last. */
  readonly endpoints: (chain: string) => readonly EndpointRecord[];
  readonly plan: () => Plan;
  /** What every status means, in Markdown. */
  readonly statusesDocument: () => string;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly gzipped: Buffer }>;
  readonly healthy: () => CheckResult;
  readonly ready: () => CheckResult;
  /** Null where the lifecycle routes are not enabled. */
  readonly reload: (() => Promise<CheckResult>) | null;
  readonly version: string;
}

export interface CheckResult {
  readonly ok: boolean;
  /** One sentence. */
  readonly detail: string;
}
