import { baselineOf, type ChainState, chainAt, NO_QUERIES, type WatchedChain } from "../chain/chain-state.ts";
import { boundsIn } from "../chain/decide.ts";
import { estimateGap } from "../gap/gap.ts";
import { isFarAhead } from "../head/agree.ts";
import { type ChainClock, timeOfBlock } from "../head/chain-clock.ts";
import { contradictionOf } from "../head/consensus.ts";
import { servingTargets, type Target, type Thresholds } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import type { Limit } from "../model/limit.ts";
import {
  type ChainPart,
  type ChainSummary,
  type GapReport,
  type TargetReport,
  targetId,
} from "../model/report.ts";
import { wallTime } from "../model/sample.ts";
import { type Status, statusOfFailure, traitsOf } from "../model/statuses.ts";
import { inSeconds, isoTime } from "../model/text.ts";
import { isFresh, staleAfterMs } from "../model/thresholds.ts";
import { failedQueries, hasDoubtfulQuery, resultOf } from "../source/queries.ts";
import {
  highestSample,
  type Lag,
  newestSample,
  newSource,
  type SourceState,
  servedOf,
} from "../source/source-state.ts";
import { oppositionText } from "../status/exclusion-text.ts";
import { reportCatchUp } from "../status/lag.ts";
import { type ChainView, type Ended, endedOf, thresholdsOf, viewOf } from "../status/view.ts";
import { detailOf, disputeText, type Facts } from "./detail.ts";
import { differingKeys } from "./pairs.ts";
import { reportParity } from "./report-parity.ts";

/** The status of a target without a usable height, by the kind of its last reply. */
const STATUS_WITHOUT_HEIGHT = { head: "unknown", missing: "missing", not_started: "syncing" } as const;
/** A target is preferred to an earlier one only if it is fresher by more than this: else the preference would flap. */
const AS_GOOD_SECONDS = 5;
const AS_GOOD_BLOCKS = 2;

const NO_PROBES: TargetReport["probes"] = [];

type Standing = ChainSummary["standings"][number];
type MarkedTarget = TargetReport & { preferred: boolean };

/** What is known of a chain at `nowMs`. The same state and instant always give the same report. */
export function reportChain(state: ChainState, watched: WatchedChain, nowMs: number): ChainPart {
  const view = viewOf(state, watched, nowMs);
  const { slug, id, name, testnet, explorer, blockTimeMs } = watched.chain;
  const byKey = new Map(state.sources.map((source) => [source.key, source]));
  const targets = watched.targets.map((target) =>
    reportTarget(
      target,
      byKey.get(target.key) ?? newSource(target.key, { ...target, kind: "indexer", sentTo: "" }),
      view,
      watched.sources.get(target.key)?.queries ?? NO_QUERIES,
    ),
  );
  const parity = reportParity(state, watched, targets, nowMs);
  const unfit = parity.flatMap(({ odd_key }) => odd_key ?? []);
  // Where sources contradict each other, the freshest may be the one that is wrong.
  if (view.dispute === null) {
    markPreferred(targets, new Set(unfit));
  }
  return {
    summary: {
      slug,
      chain_id: id,
      name,
      testnet,
      explorer,
      block_time_seconds: inSeconds(blockTimeMs),
      block_interval_seconds:
        view.clock.intervalMs === null ? null : Math.round(view.clock.intervalMs * 1_000) / 1e6,
      reference: reportReference(view),
      dispute: view.dispute === null ? null : disputeText(view.dispute),
      standings: reportStandings(state, watched, view),
      thresholds: reportThresholds(view.thresholds),
    },
    targets: targets.map((target) => withDataFault(target, parity)),
    gaps: reportGaps(state, watched, view),
    parity,
  };
}

/** Begins the detail of a target with the fault of its data, which neither its height nor its status shows. */
function withDataFault(target: MarkedTarget, parity: ChainPart["parity"]): TargetReport {
  const faults = parity
    .filter(({ result }) => result === "different")
    .filter((one) => differingKeys(one).includes(target.key))
    .map(({ probe }) => `its data differ in probe ${probe}`);
  return faults.length === 0 ? target : { ...target, detail: [...new Set(faults), target.detail].join("; ") };
}

function reportThresholds({ lagging, critical, stalledMs }: Thresholds): ChainSummary["thresholds"] {
  const secondsOf = ({ ms }: Limit) => (ms === null ? null : Math.round(ms) / 1_000);
  return {
    lagging_seconds: secondsOf(lagging),
    lagging_blocks: lagging.blocks,
    critical_seconds: secondsOf(critical),
    critical_blocks: critical.blocks,
    stalled_seconds: stalledMs / 1_000,
  };
}

/** The chain's reference, or null while its evidence is missing or stale. */
function reportReference({ clock, consensus, intervalMs, reference }: ChainView): ChainSummary["reference"] {
  if (reference === null) {
    return null;
  }
  const time = timeOfBlock(clock, reference.block, intervalMs);
  return {
    block_number: reference.block,
    sources: consensus.members.length,
    time: time === null ? null : wallTime(time.ms, clock),
  };
}

/** For each source with a fresh height, or of another chain: whether it agrees with the reference, or why not. */
function reportStandings(state: ChainState, watched: WatchedChain, view: ChainView): readonly Standing[] {
  const bounds = boundsIn(chainAt(state, watched, view.nowMs));
  return state.sources.flatMap((source) => {
    const standing = standingOf(source, view);
    if (standing === null) {
      return [];
    }
    const { block_number, detail, stands } = standing;
    const most = bounds.get(source.key)?.high ?? Number.POSITIVE_INFINITY;
    const most_block = block_number === null || most === Number.POSITIVE_INFINITY ? null : Math.floor(most);
    const host = watched.sources.get(source.key)?.provider ?? null;
    return { source: source.key, host, block_number, stands, detail, most_block };
  });
}

function standingOf(
  source: SourceState,
  view: ChainView,
): Pick<Standing, "block_number" | "stands" | "detail"> | null {
  const { key, last } = source;
  const { members, opposed, sides } = view.consensus;
  if (last?.kind === "failed" && last.reason === "wrong_chain") {
    return { block_number: null, stands: "rejected", detail: last.detail };
  }
  const newest = newestSample(source);
  if (newest === null || !isFresh(source, view.thresholds, view.nowMs)) {
    return null;
  }
  const { block } = newest;
  const opposition = opposed.find((one) => one.source === key);
  if (opposition !== undefined) {
    return { block_number: block, stands: "excluded", detail: oppositionText(opposition) };
  }
  const side = sides.findIndex((keys) => keys.includes(key));
  if (side >= 0) {
    return { block_number: block, stands: "disputed", detail: `side ${side + 1}` };
  }
  const isMember = view.reference !== null && members.includes(key);
  return { block_number: block, stands: isMember ? "agrees" : "apart", detail: null };
}

/**
 * The gaps between the variants of each protocol. Both targets of a gap need fresh heights that no source contradicts. Targets
 * that are judged by low replicas are left out; so are targets at their own end, because they fall behind forever.
 */
function reportGaps(state: ChainState, watched: WatchedChain, view: ChainView): readonly GapReport[] {
  const comparable = new Map(
    state.sources
      .filter(
        (source) => isFresh(source, view.thresholds, view.nowMs) && contradictionOf(source, view) === null,
      )
      .filter((source) => source.replicas?.isStale !== true && endedOf(source, view)?.isOwn !== true)
      .map((source) => [source.key, source]),
  );
  return watched.targets.flatMap((target) => {
    const own = comparable.get(target.key);
    const against = baselineOf(watched, target);
    const newest = own === undefined ? null : newestSample(own);
    const gap = own === undefined ? null : estimateGap(own.gap);
    if (gap === null || newest === null || against === null || !comparable.has(against.key)) {
      return [];
    }
    const blocks = Math.round(gap.blocks * 10) / 10;
    const here = timeOfBlock(view.clock, newest.block, view.intervalMs);
    const there = timeOfBlock(view.clock, newest.block + blocks, view.intervalMs);
    const { key, protocol, variant, tier, chain, chain_id } = targetId(target);
    return {
      key,
      protocol,
      variant,
      tier,
      chain,
      chain_id,
      against: against.variant,
      blocks,
      seconds: here === null || there === null ? null : (there.ms - here.ms) / 1_000,
      uncertainty_blocks: gap.uncertaintyBlocks,
    };
  });
}

/** What is known of one target; `preferred` is set later, once all targets are known. */
function reportTarget(
  target: Target,
  known: SourceState,
  view: ChainView,
  queries: ReadonlyMap<string, string>,
): MarkedTarget {
  // If users are served by low replicas, the heights of these are shown while they are fresh. The state is copied, because the
  // detail may be written after the next poll.
  const served = servedOf(known);
  const state = { ...(isFresh(served, view.thresholds, view.nowMs) ? served : known) };
  const id = targetId(target);
  const height = reportHeight(state, view);
  const { status, sinceMs } = statusAt(state, view);
  const unconfirmed = unconfirmedOf(known, status);
  const measured = height.block_number === null ? null : lagAt(state, status, view);
  const ended = endedOf(state, view);
  const lag = traitsOf(status).hasLag ? measured : null;
  const catchUp = reportCatchUp(state, status, lag, view.intervalMs);
  const indicated = unconfirmed ?? status;
  // Each field is written out: with a spread, Node 20 takes 20 µs instead of 1.
  const report = {
    key: id.key,
    protocol: id.protocol,
    variant: id.variant,
    tier: id.tier,
    chain: id.chain,
    chain_id: id.chain_id,
    status,
    since: sinceMs === null ? null : wallTime(Math.round(sinceMs), view.clock),
    status_changes: state.statusChanges,
    unconfirmed,
    reason: reasonOf(state, indicated, view),
    up: height.up,
    block_number: height.block_number,
    block_timestamp: height.block_timestamp,
    lag_blocks: lag?.blocks ?? null,
    lag_seconds: lag?.ms == null ? null : Math.round(lag.ms) / 1_000,
    lag_extrapolated: lag?.isExtrapolated ?? false,
    catch_up: catchUp,
    last_success: state.lastSuccessMs === null ? null : wallTime(state.lastSuccessMs, view.clock),
    last_advance: state.lastAdvanceMs === null ? null : wallTime(Math.round(state.lastAdvanceMs), view.clock),
    indexing_errors: state.indexingErrors,
    probes:
      queries.size === 0 ? NO_PROBES : Array.from(queries, (query) => reportQuery(query, state, view.clock)),
    deployment: state.deployment,
    deployment_changes: state.deploymentChanges,
    regressions: state.regressions,
    served: state.hasServed,
    thresholds: target.thresholds === undefined ? null : reportThresholds(thresholdsOf(target, view)),
    ended: reportEnd(ended),
    preferred: false,
    maintenance: false,
    maintenance_until: null,
    explorer: target.explorer,
    playground: target.playground,
    [FACTS]: {
      status,
      unconfirmed,
      ended,
      state,
      view,
      lag: traitsOf(indicated).hasLag ? measured : null,
      catchUp,
    },
  };
  addDetail(report);
  return report;
}

/** The lag that the last decision measured. The evidence for the reference may have become stale since. */
function lagAt({ lag }: SourceState, status: Status, { dispute, reference }: ChainView): Lag | null {
  // In a dispute there is no reference: a lag by the clock would make the freshest side look right.
  if (lag === null || (dispute !== null && status === "ok")) {
    return null;
  }
  return reference === null ? { ...lag, blocks: null } : lag;
}

/** What is known of one query of a target. */
function reportQuery(
  [queryKey, probe]: readonly [queryKey: string, probe: string],
  { queries }: SourceState,
  clock: ChainClock,
) {
  const known = queries[queryKey];
  return known === undefined
    ? { probe, result: "unknown" as const, since: null, last: null, latency_seconds: null, detail: null }
    : {
        probe,
        result: resultOf(known),
        since: wallTime(known.sinceMs, clock),
        last: wallTime(known.lastMs, clock),
        latency_seconds: known.tookMs / 1_000,
        detail: known.failure,
      };
}

function reportEnd(ended: Ended | null): TargetReport["ended"] {
  return ended === null ? null : String(ended.end);
}

/** The status that the last poll indicates, if it differs from the settled status: another poll has to confirm it. */
function unconfirmedOf(source: SourceState, status: Status): Status | null {
  const { verdict } = source;
  if (hasDoubtfulQuery(source) && traitsOf(status).isUsable && source.last?.kind === "head") {
    return "failed";
  }
  return verdict?.status === status ? verdict.unconfirmed : null;
}

/** Why the target has the indicated status: an impossible height, a failing query, or the failure of the last poll. */
function reasonOf(state: SourceState, indicated: Status, view: ChainView): TargetReport["reason"] {
  const { indexingErrors, last, queries } = state;
  if (indicated === "diverged" && isFarAhead(contradictionOf(state, view))) {
    return "implausible";
  }
  if (indicated === "failed" && last?.kind === "head" && indexingErrors !== true) {
    return failedQueries(queries).length === 0 ? null : "query";
  }
  const isOfStatus =
    last?.kind === "failed" && (indicated === "unknown" || statusOfFailure(last.reason) === indicated);
  return isOfStatus ? last.reason : null;
}

const FACTS = Symbol("facts");

/**
 * The detail is written when it is read: metrics and most reports do not need it. All targets share this getter, because an
 * object with a getter of its own takes six times the memory.
 */
const DETAIL: PropertyDescriptor & ThisType<{ readonly [FACTS]: Facts }> = {
  enumerable: true,
  configurable: true,
  get() {
    return detailOf(this[FACTS]);
  },
};

function addDetail<Report extends { readonly [FACTS]: Facts }>(
  report: Report,
): asserts report is Report & { readonly detail: string } {
  Object.defineProperty(report, "detail", DETAIL);
}

/** The height from which the lag is measured; a height that is stale, or too high for the chain, is left out. */
function reportHeight(
  state: SourceState,
  view: ChainView,
): Pick<TargetReport, "up" | "block_number" | "block_timestamp"> {
  if (isFarAhead(contradictionOf(state, view))) {
    return { up: false, block_number: null, block_timestamp: null };
  }
  const height = highestSample(state);
  const dated =
    height?.timestampSec == null
      ? state.samples.findLast(({ timestampSec }) => timestampSec !== null)
      : height;
  return {
    up: state.last?.kind === "head",
    block_number: isFresh(state, view.thresholds, view.nowMs) ? (height?.block ?? null) : null,
    block_timestamp: dated?.timestampSec == null ? null : isoTime(dated.timestampSec * 1_000),
  };
}

/** The settled status or, once the target's heights are stale, the status that the last poll indicates. */
function statusAt(
  state: SourceState,
  view: ChainView,
): { readonly status: Status; readonly sinceMs: number | null } {
  const { last, verdict } = state;
  if (last === null || verdict === null) {
    return { status: "unknown", sinceMs: null };
  }
  const staleMs = staleAfterMs(view.thresholds, state.pollIntervalMs);
  const isRecent = view.nowMs - last.receivedAtMs <= staleMs;
  if (isFresh(state, view.thresholds, view.nowMs) || (isRecent && !traitsOf(verdict.status).hasHeight)) {
    return verdict;
  }
  const heightMs = newestSample(state)?.receivedAtMs;
  const sinceMs = heightMs === undefined ? verdict.sinceMs : heightMs + staleMs;
  if (last.kind === "failed") {
    return { status: statusOfFailure(last.reason), sinceMs };
  }
  return isRecent
    ? { status: STATUS_WITHOUT_HEIGHT[last.kind], sinceMs }
    : { status: "unknown", sinceMs: last.receivedAtMs + staleMs };
}

/**
 * Marks the freshest healthy target of each protocol. A testing URL is preferred only if the protocol has no production tier on
 * this chain. `unfit`: keys of targets whose data differ from those of several others.
 */
function markPreferred(targets: readonly MarkedTarget[], unfit: ReadonlySet<string>): void {
  for (const group of groupBy(targets, ({ protocol }) => protocol).values()) {
    const [first, ...others] = servingTargets(group).filter(
      ({ key, status, block_number: block }) => status === "ok" && block !== null && !unfit.has(key),
    );
    if (first !== undefined) {
      others.reduce((best, one) => (isFresher(one, best) ? one : best), first).preferred = true;
    }
  }
}

/** Whether `report` is clearly fresher than `rival`: by lag where both have one, else by height. */
function isFresher(report: TargetReport, rival: TargetReport): boolean {
  if (report.lag_seconds !== null && rival.lag_seconds !== null) {
    return report.lag_seconds < rival.lag_seconds - AS_GOOD_SECONDS;
  }
  return (report.block_number ?? 0) > (rival.block_number ?? 0) + AS_GOOD_BLOCKS;
}
