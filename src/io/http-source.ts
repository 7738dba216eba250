import type { Report } from "../core/report.ts";

/** What the HTTP server reads: memory only, never an indexer. */
export interface HttpSource {
  readonly report: () => Report;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly healthy: () => Verdict;
  readonly ready: () => Verdict;
  /** Null where the lifecycle routes are not enabled. */
  readonly reload: (() => Promise<Verdict>) | null;
  readonly version: string;
}

export interface Verdict {
  readonly ok: boolean;
  /** One sentence. */
  readonly detail: string;
}
