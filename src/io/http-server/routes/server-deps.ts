import type { Config } from "../../../config/config.ts";
import type { EventLog } from "../../../core/events/event-log.ts";
import type { HistorySlice, Span } from "../../../core/history/history.ts";
import type { EndpointRecord } from "../../../core/model/exchange.ts";
import type { Plan } from "../../../core/model/plan.ts";
import type { Report } from "../../../core/model/report.ts";

/** The data that the HTTP server reads. They are in memory: no request asks an indexer. */
export interface ServerDeps {
  readonly report: () => Report;
  /** A stretch of a chain's history for the targets with these keys. */
  readonly past: (chain: string, keys: readonly string[], span: Span) => HistorySlice;
  readonly events: EventLog;
  /** Every endpoint that serves a chain, with its last replies. */
  readonly endpoints: (chain: string) => readonly EndpointRecord[];
  readonly plan: () => Plan;
  /** The settings of the configuration in use. */
  readonly settings: () => Pick<Config, "cors" | "fleet" | "links" | "public">;
  readonly metrics: () => Promise<ScrapeReply>;
  readonly healthy: () => ProbeResult;
  readonly ready: () => ProbeResult;
  /** Null if the lifecycle routes are not enabled. */
  readonly reload: (() => Promise<ProbeResult>) | null;
  readonly version: string;
}

/** The body of `/metrics`. */
export interface ScrapeReply {
  readonly contentType: string;
  readonly gzipped: Buffer;
}

/** The reply to a liveness or readiness probe, or to a reload. A reload is not ok if the new configuration cannot be applied. */
export interface ProbeResult {
  readonly ok: boolean;
  /** One sentence. */
  readonly detail: string;
}
