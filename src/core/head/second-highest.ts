import { mostBlocksIn, type Pace } from "./pace.ts";
import type { Vote } from "./reference.ts";

/** Two votes this many poll intervals apart are of one round. */
const SAME_ROUND = 1.5;

/**
 * The second highest height, where those of rarely asked sources are carried to the instant of the newest. If the
 * top one has been asked again since the second was, the second corroborates what the chain can have made since.
 */
export function secondHighest(votes: readonly Vote[], pace: Pace): Vote | null {
  const [top, second] = highestTwo(votes, pace);
  if (top === null || second === null) {
    return null;
  }
  const laterMs = top.atMs - second.atMs;
  const corroborated =
    laterMs > SAME_ROUND * top.pollIntervalMs && top.block - second.block <= mostBlocksIn(laterMs, pace);
  return corroborated ? top : second;
}

/** Where the source of a vote will have got to by `atMs`, if it goes on as the chain does until its next poll. */
export function extrapolated(vote: Vote, atMs: number, pace: Pace): number {
  const aheadMs = Math.min(Math.max(0, atMs - vote.atMs), 1.5 * vote.pollIntervalMs);
  return pace.intervalMs === null ? vote.block : vote.block + aheadMs / pace.intervalMs;
}

/** Of equal ones the first. */
function highestTwo(votes: readonly Vote[], pace: Pace): readonly [top: Vote | null, second: Vote | null] {
  const newestMs = votes.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  let top: Vote | null = null;
  let second: Vote | null = null;
  let topBlock = Number.NEGATIVE_INFINITY;
  let secondBlock = Number.NEGATIVE_INFINITY;
  for (const vote of votes) {
    const block = extrapolated(vote, newestMs, pace);
    if (block > topBlock) {
      second = top;
      secondBlock = topBlock;
      top = vote;
      topBlock = block;
    } else if (block > secondBlock) {
      second = vote;
      secondBlock = block;
    }
  }
  return [top, second];
}
