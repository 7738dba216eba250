import type { ChainState, WatchedChain } from "./chain-state.ts";
import { type Reach, reachOf } from "./network-incident.ts";
import type { ChainReport, Status } from "./report.ts";
import { newestSample } from "./source-state.ts";
import { staleAfterMs } from "./votes.ts";
import { reportChain } from "./watch-chain.ts";

/** A chain's report, and how long it stays true if nothing more is heard. */
export interface ToldChain {
  readonly report: ChainReport;
  /** What it was made from. */
  readonly state: ChainState;
  readonly reach: Reach;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Tells of a chain what `reportChain` does: what was told before if that still holds, for most of a large fleet is as it was. */
export function tellChain(
  former: ToldChain | null,
  { watched, state }: { readonly watched: WatchedChain; readonly state: ChainState },
  nowMs: number,
): ToldChain {
  if (former !== null && former.state === state && former.fromMs <= nowMs && nowMs <= former.untilMs) {
    return former;
  }
  const report = reportChain(state, watched, nowMs);
  const untilMs = tellsAge(report, state) ? nowMs : nextTurnMs(state, watched, nowMs);
  return { report, state, reach: reachOf(state.sources), fromMs: nowMs, untilMs };
}

/** Until when the same evidence counts: all else that time changes. */
function nextTurnMs({ reference, sources }: ChainState, watched: WatchedChain, nowMs: number): number {
  const intervals = new Set([...watched.targets, ...sources].map(({ pollIntervalMs }) => pollIntervalMs));
  const lives = [...intervals].map((intervalMs) => staleAfterMs(watched.chain.thresholds, intervalMs));
  const heard = sources
    .flatMap((source) => [source.last?.receivedAtMs, newestSample(source)?.receivedAtMs])
    .filter((atMs) => atMs !== undefined);
  const turns = heard.flatMap((atMs) => lives.map((lifeMs) => atMs + lifeMs));
  return turns.reduce(
    (next, turnMs) => (turnMs >= nowMs ? Math.min(next, turnMs) : next),
    reference !== null && reference.freshUntilMs >= nowMs ? reference.freshUntilMs : Number.POSITIVE_INFINITY,
  );
}

/** Statuses whose details say how old something is, of a target that was heard at all. */
const AGED: ReadonlySet<Status> = new Set([
  "unknown",
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
  "missing",
]);

function tellsAge({ targets }: ChainReport, { sources }: ChainState): boolean {
  const aged = targets.filter(({ status }) => AGED.has(status)).map(({ target }) => target.key);
  return sources.some(({ key }) => aged.includes(key));
}
