import type { Proof } from "./chain-state.ts";
import { type Claim, mostBlocksIn, type Pace } from "./claim.ts";

/** A past head, extrapolated at the chain's pace, and the keys of the sources that were level with it. */
export interface Track {
  readonly block: number;
  readonly atMs: number;
  /** The pace known at that time; null: unknown. */
  readonly intervalMs: number | null;
  readonly members: readonly string[];
}

/** What is known of the chain in addition to its sources. */
export interface ChainContext {
  readonly pace: Pace;
  /** A source that has stood still for longer says nothing of where the head is now. */
  readonly stalledAfterMs: number;
  /** What an RPC node has said of a source's block, by the source's key. */
  readonly proofs: Readonly<Record<string, Proof>>;
}

/** All that a decision is worked out from. */
export interface Scene extends ChainContext {
  readonly claims: readonly Claim[];
  readonly newestMs: number;
  readonly highest: number;
  readonly track: Track | null;
}

/** Sources are level if their heights at one instant differ by at most this. */
const LEVEL_MS = 60_000;
const LEVEL_BLOCKS = 3;
const LEVEL_BLOCKS_WITHOUT_PACE = 10;
/** A source within so much of the track is on it. */
const ON_TRACK_MS = 10_000;
const ON_TRACK_BLOCKS = 4;
/** How wrong a pace may be: measured over minutes, or only configured. */
const PACE_ERROR = { measured: 0.02, configured: 0.5 };
/** One that is further above the track than another by so much is clearly ahead of it. */
const LEAD_MS = 5_000;
const LEAD_BLOCKS = 1.5;

export function sceneOf(claims: readonly Claim[], track: Track | null, chain: ChainContext): Scene {
  const newestMs = claims.reduce((latest, { atMs }) => Math.max(latest, atMs), Number.NEGATIVE_INFINITY);
  const highest = claims.reduce((most, { block }) => Math.max(most, block), Number.NEGATIVE_INFINITY);
  const { pace, proofs, stalledAfterMs } = chain;
  return { pace, proofs, stalledAfterMs, claims, newestMs, highest, track };
}

/** Whether two sources are at one height, within the uncertainty of latencies and pace. */
export function areLevel(a: Claim, b: Claim, scene: Scene): boolean {
  const { intervalMs } = scene.pace;
  const apart = Math.abs(carried(a, scene) - carried(b, scene));
  if (intervalMs === null) {
    return apart <= LEVEL_BLOCKS_WITHOUT_PACE;
  }
  const carriedMs = scene.newestMs - a.atMs + scene.newestMs - b.atMs;
  return apart <= Math.max(LEVEL_BLOCKS, (LEVEL_MS + paceError(scene) * carriedMs) / intervalMs);
}

/** Whether so many blocks are no more than the chain makes in a minute. */
export function isWithinMinute(blocks: number, { pace }: Pick<Scene, "pace">): boolean {
  const { intervalMs } = pace;
  return (
    blocks <=
    (intervalMs === null ? LEVEL_BLOCKS_WITHOUT_PACE : Math.max(LEVEL_BLOCKS, LEVEL_MS / intervalMs))
  );
}

/** Where a source will have got to by the time of the newest answer; never above what anybody has shown. */
export function carried(claim: Claim, scene: Scene): number {
  return Math.max(claim.block, Math.min(scene.highest, carriedTo(claim, scene.newestMs, scene)));
}

/** The height it would have at an instant, if it advances as the chain does. */
export function carriedTo({ atMs, block }: Claim, toMs: number, { pace }: Scene): number {
  return pace.intervalMs === null ? block : block + (toMs - atMs) / pace.intervalMs;
}

function paceError({ pace }: Scene): number {
  return pace.measured ? PACE_ERROR.measured : PACE_ERROR.configured;
}

/** Whether it was level with the track before, and is now at the track's extrapolation. */
export function isOnTrack(claim: Claim, scene: Scene): boolean {
  return scene.track?.members.includes(claim.key) === true && offTrack(claim, scene) === 0;
}

/** By how many blocks a source is above the track (negative: below it); 0 within the tolerance. */
export function offTrack(claim: Claim, scene: Scene): number {
  const { track } = scene;
  const off = aboveTrack(claim, scene);
  if (track === null || track.intervalMs === null) {
    return Math.abs(off) <= LEVEL_BLOCKS_WITHOUT_PACE ? 0 : off;
  }
  const spanMs = Math.abs(claim.atMs - track.atMs);
  const tolerance = (ON_TRACK_MS + paceError(scene) * spanMs) / track.intervalMs;
  return Math.abs(off) <= Math.max(ON_TRACK_BLOCKS, tolerance) ? 0 : off;
}

/** The same, without a tolerance. While the pace is unknown, every height that the chain can have reached is on the track. */
export function aboveTrack({ atMs, block }: Claim, { pace, track }: Scene): number {
  if (track === null) {
    return 0;
  }
  const spanMs = atMs - track.atMs;
  if (track.intervalMs === null) {
    const most = track.block + mostBlocksIn(spanMs, pace);
    return block - Math.min(Math.max(block, track.block), most);
  }
  return block - track.block - spanMs / track.intervalMs;
}

/** Whether one is clearly further above the track than another. */
export function isAhead(claim: Claim, other: Claim, scene: Scene): boolean {
  const lead = Math.max(LEAD_BLOCKS, LEAD_MS / (scene.pace.intervalMs ?? LEAD_MS));
  return aboveTrack(claim, scene) > aboveTrack(other, scene) + lead;
}
