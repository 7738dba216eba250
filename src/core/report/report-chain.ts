import { estimateGap } from "../gap/gap.ts";
import { timeOfBlock } from "../head/chain-clock.ts";
import { baselineOf, type ChainState, type WatchedChain } from "../head/chain-state.ts";
import { staleAfterMs } from "../head/claim.ts";
import { isFarAhead } from "../head/consensus.ts";
import { oppositionText } from "../head/opposition-text.ts";
import type { Target } from "../model/fleet.ts";
import {
  type ChainReport,
  type GapReport,
  type Status,
  type TargetReport,
  targetId,
} from "../model/report.ts";
import { inSeconds, isoTime } from "../model/text.ts";
import { statusOfFailure } from "../source/settled-status.ts";
import { newestSample, newSource, type SourceState, servedOf } from "../source/source-state.ts";
import { reportCatchUp } from "../status/catch-up.ts";
import { contradictionOf } from "../status/judge.ts";
import { measureLag } from "../status/lag.ts";
import { type ChainView, viewOf } from "../status/view.ts";
import { detailOf } from "./detail.ts";
import { disputeText } from "./dispute-text.ts";
import { preferredKeys } from "./preferred.ts";
import { reportParity } from "./report-parity.ts";
import { reportStandings } from "./standings.ts";

/** What is known of a chain at `nowMs`. The same state and instant always give the same report. */
export function reportChain(state: ChainState, watched: WatchedChain, nowMs: number): ChainReport {
  const view = viewOf(state, watched.chain, nowMs);
  const { slug, id, name, testnet, explorer, blockTimeMs, thresholds } = watched.chain;
  const targets = reportTargets(state, watched, view);
  const parity = reportParity(state, watched, targets, nowMs);
  const preferred = preferredKeys(targets, new Set(parity.flatMap((one) => one.odd_key ?? [])));
  for (const target of targets) {
    target.preferred = preferred.has(target.key);
  }
  return {
    slug,
    chain_id: id,
    name,
    testnet,
    explorer,
    block_time_seconds: inSeconds(blockTimeMs),
    block_interval_seconds: inWholeMicroseconds(view.measuredIntervalMs),
    reference: reportReference(view),
    dispute: view.dispute === null ? null : disputeText(view.dispute),
    standings: reportStandings(state, watched, view),
    thresholds: {
      lagging_seconds: thresholds.laggingMs / 1_000,
      critical_seconds: thresholds.criticalMs / 1_000,
      stalled_seconds: thresholds.stalledMs / 1_000,
    },
    targets,
    gaps: reportGaps(state, watched, view),
    parity,
  };
}

/** The chain's reference head, or null while its evidence is missing or stale. */
function reportReference(view: ChainView): ChainReport["reference"] {
  const { reference } = view;
  if (reference === null) {
    return null;
  }
  const time = timeOfBlock(view.clock, reference.block, view.intervalMs);
  return {
    block_number: reference.block,
    sources: view.consensus.members.length,
    members: view.consensus.members,
    opposed: view.consensus.opposed.map((opposition) => ({
      source: opposition.source,
      detail: oppositionText(opposition),
    })),
    time: time === null ? null : isoTime(time.timeMs),
  };
}

/** What is known of each target of a chain; which of them are preferred follows from all. */
function reportTargets(state: ChainState, watched: WatchedChain, view: ChainView): readonly MarkedTarget[] {
  const byKey = new Map(state.sources.map((source) => [source.key, source]));
  return watched.targets.map((target) =>
    reportTarget(target, byKey.get(target.key) ?? unpolled(target), view),
  );
}

interface MarkedTarget extends TargetReport {
  preferred: boolean;
}

/**
 * The gaps between the variants of each protocol, where both have fresh heights that no other source contradicts, and
 * are judged by these: not by their low replicas.
 */
function reportGaps(state: ChainState, watched: WatchedChain, view: ChainView): readonly GapReport[] {
  const comparable = new Map(
    state.sources
      .filter((source) => isFresh(source, view) && contradictionOf(source, view) === null)
      .filter(({ replicas }) => replicas?.isStale !== true)
      .map((source) => [source.key, source]),
  );
  return watched.targets.flatMap((target) => {
    const own = comparable.get(target.key);
    const against = baselineOf(watched, target);
    return own === undefined || against === null || !comparable.has(against.key)
      ? []
      : (reportGap(own, { target, against }, view) ?? []);
  });
}

function reportGap(
  own: SourceState,
  { target, against }: { readonly target: Target; readonly against: Target },
  view: ChainView,
): GapReport | null {
  const gap = estimateGap(own.gap);
  const newest = newestSample(own);
  if (gap === null || newest === null) {
    return null;
  }
  const blocks = Math.round(gap.blocks * 10) / 10;
  const seconds = gapSeconds(blocks, newest.block, view);
  return {
    ...targetId(target),
    against: against.variant,
    blocks,
    seconds,
    uncertainty_blocks: gap.uncertaintyBlocks,
  };
}

function reportTarget(target: Target, known: SourceState, view: ChainView): MarkedTarget {
  // A copy, for its detail may be read after the next poll.
  const state = { ...servedOf(known) };
  const staleMs = staleAfterMs(view.thresholds, target.pollIntervalMs);
  const fresh = isFresh(state, view);
  const id = targetId(target);
  const height = reportHeight(state, view);
  const { status, sinceMs } = statusAt(state, { nowMs: view.nowMs, staleMs, fresh });
  const lag = status === "diverged" || height.block_number === null ? null : measureLag(state, view);
  const catchUp = reportCatchUp(state.approach, status, lag, view.intervalMs);
  let detail: string | null = null;
  // Node 20 takes 20 µs, not 1, for so many fields behind a spread.
  return {
    key: id.key,
    protocol: id.protocol,
    variant: id.variant,
    tier: id.tier,
    chain: id.chain,
    chain_id: id.chain_id,
    status,
    since: sinceMs === null ? null : isoTime(Math.round(sinceMs)),
    status_changes: state.statusChanges,
    reason: state.last?.kind === "failed" ? state.last.reason : null,
    up: height.up,
    block_number: height.block_number,
    block_timestamp: height.block_timestamp,
    lag_blocks: lag?.blocks ?? null,
    lag_seconds: lag?.ms == null ? null : Math.round(lag.ms) / 1_000,
    lag_extrapolated: lag?.extrapolated ?? false,
    catch_up: catchUp,
    last_success: state.lastSuccessMs === null ? null : isoTime(state.lastSuccessMs),
    last_advance: state.lastAdvanceMs === null ? null : isoTime(Math.round(state.lastAdvanceMs)),
    indexing_errors: state.indexingErrors,
    deployment: state.deployment,
    deployment_changes: state.deploymentChanges,
    regressions: state.regressions,
    preferred: false,
    maintenance: false,
    // A sentence is made when somebody reads it: metrics and most reports need none.
    get detail() {
      detail ??= detailOf({ status, state, view, lag, catchUp });
      return detail;
    },
    explorer: target.explorer,
    playground: target.playground,
  };
}

/** A height that is stale, or cannot exist yet, is not shown. */
function reportHeight(
  state: SourceState,
  view: ChainView,
): Pick<TargetReport, "up" | "block_number" | "block_timestamp"> {
  if (isFarAhead(view.consensus.opposed.find(({ source }) => source === state.key))) {
    return { up: false, block_number: null, block_timestamp: null };
  }
  const dated = state.samples.findLast(({ timestampSec }) => timestampSec !== null);
  return {
    up: state.last?.kind === "head",
    block_number: isFresh(state, view) ? (newestSample(state)?.block ?? null) : null,
    block_timestamp: dated?.timestampSec == null ? null : isoTime(dated.timestampSec * 1_000),
  };
}

/** Statuses of targets that give no height: they stay settled when no height counts any more. */
const WITHOUT_HEIGHT: ReadonlySet<Status> = new Set([
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
  "missing",
]);
/** What a target says of itself that has no height which counts. */
const STATUS_WITHOUT_HEIGHT = { head: "unknown", missing: "missing", not_started: "syncing" } as const;

/** The settled status, unless the heights that it rests on have become stale since: then what was said last is named. */
function statusAt(
  { last, samples, verdict }: SourceState,
  at: { readonly nowMs: number; readonly staleMs: number; readonly fresh: boolean },
): { readonly status: Status; readonly sinceMs: number | null } {
  if (last === null || verdict === null) {
    return { status: "unknown", sinceMs: null };
  }
  const isHeard = at.nowMs - last.receivedAtMs <= at.staleMs;
  if (at.fresh || (isHeard && WITHOUT_HEIGHT.has(verdict.status))) {
    return verdict;
  }
  const heightMs = samples.at(-1)?.receivedAtMs;
  const sinceMs = heightMs === undefined ? verdict.sinceMs : heightMs + at.staleMs;
  if (last.kind === "failed") {
    return { status: statusOfFailure(last.reason), sinceMs };
  }
  return isHeard
    ? { status: STATUS_WITHOUT_HEIGHT[last.kind], sinceMs }
    : { status: "unknown", sinceMs: last.receivedAtMs + at.staleMs };
}

function isFresh(source: SourceState, view: ChainView): boolean {
  const newest = newestSample(source);
  const staleMs = staleAfterMs(view.thresholds, source.pollIntervalMs);
  return newest !== null && view.nowMs - newest.receivedAtMs <= staleMs;
}

function unpolled({ key, pollIntervalMs }: Target): SourceState {
  return newSource(key, "indexer", pollIntervalMs);
}

/** The gap as time: between the target's block and the block of the other target. */
function gapSeconds(blocks: number, from: number, view: ChainView): number | null {
  const here = timeOfBlock(view.clock, from, view.intervalMs);
  const there = timeOfBlock(view.clock, from + blocks, view.intervalMs);
  return here === null || there === null ? null : (there.timeMs - here.timeMs) / 1_000;
}

function inWholeMicroseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1_000) / 1e6;
}
