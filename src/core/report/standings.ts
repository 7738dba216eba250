import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import { staleAfterMs } from "../head/claim.ts";
import { oppositionText } from "../head/opposition-text.ts";
import type { ChainSummary } from "../model/report.ts";
import { newestSample } from "../source/source-state.ts";
import type { ChainView } from "../status/view.ts";

/** For each source with a recent reply: which sources it agrees with, or why it is excluded. */
export function reportStandings(
  { sources }: Pick<ChainState, "sources">,
  watched: WatchedChain,
  view: ChainView,
): ChainSummary["standings"] {
  return sources.flatMap((source): ChainSummary["standings"] => {
    const { key, last } = source;
    const host = watched.sources.get(key)?.provider ?? null;
    if (last?.kind === "failed" && last.reason === "wrong_chain") {
      return [{ source: key, host, block_number: null, stands: "rejected", detail: last.detail }];
    }
    const newest = newestSample(source);
    const staleMs = staleAfterMs(view.thresholds, source.pollIntervalMs);
    return newest === null || view.nowMs - newest.receivedAtMs > staleMs
      ? []
      : [{ source: key, host, block_number: newest.block, ...standingOf(key, view) }];
  });
}

function standingOf(
  key: string,
  view: ChainView,
): Pick<ChainSummary["standings"][number], "stands" | "detail"> {
  const { members, opposed, undecided } = view.consensus;
  const opposition = opposed.find(({ source }) => source === key);
  if (opposition !== undefined) {
    return { stands: "excluded", detail: oppositionText(opposition) };
  }
  const side = undecided.findIndex((keys) => keys.includes(key));
  if (side >= 0) {
    return { stands: "disputed", detail: `side ${side + 1}` };
  }
  const isMember = view.reference !== null && members.includes(key);
  return { stands: isMember ? "agrees" : "apart", detail: null };
}
