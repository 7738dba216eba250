import { type Claim, isProof, keysOf } from "./claim.ts";
import { aboveTrack, carriedTo, isWithinMinute, offTrack, type Scene, type Track } from "./scene.ts";

/** The time needed to distinguish sources that fall behind the track from a source that creeps ahead of it. */
const ANCHOR_MS = 600_000;
const LONG_ANCHOR_MS = 1_800_000;
/** A source is asked about as often as another if their poll intervals differ by no more than this factor. */
export const AS_OFTEN = 2;

/**
 * Whether the track leads from this head now. While the head is on it, that is so only every few minutes, and if the witness is on it too: else
 * one that falls back slowly, or creeps ahead, would take it along.
 */
export function mayMoveTrack(
  usual: Claim,
  witness: Claim,
  { track, ahead, scene }: { readonly track: Track; readonly ahead: readonly Claim[]; readonly scene: Scene },
): boolean {
  const off = offTrack(usual, scene);
  if (off === 0) {
    const isOld = usual.atMs - track.atMs > (ahead.length === 0 ? ANCHOR_MS : LONG_ANCHOR_MS);
    return isOld && offTrack(witness, scene) === 0;
  }
  return ahead.length === 0 && (off > 0 || isReviewed(usual, track, scene));
}

/** A lone source that was not on the track does not replace the sources that were. */
export function mayTakeOver(claim: Claim, { members }: Track, { claims }: Scene): boolean {
  return members.includes(claim.key) || isProof(claim) || !claims.some(({ key }) => members.includes(key));
}

/**
 * It leads from where the witness stands, so that one that creeps ahead does not carry it along; or from the head itself, if that is where it
 * led: the witness may be falling back.
 */
export function newTrack(
  head: Claim,
  witness: Claim,
  { group, scene }: { readonly group: readonly Claim[]; readonly scene: Scene },
): Track {
  const { atMs, block } = head;
  const shown = Math.min(block, Math.max(witness.block, Math.round(carriedTo(witness, atMs, scene))));
  const led = scene.track === null || offTrack(head, scene) !== 0 ? shown : block - aboveTrack(head, scene);
  return {
    block: Math.abs(block - led) < Math.abs(shown - led) ? block : shown,
    atMs,
    intervalMs: scene.pace.intervalMs,
    members: keysOf(group),
  };
}

/** While the track advances, its members stay members. */
export function movedTrack(usual: Claim, { members }: Track, moved: Track, scene: Scene): Track {
  return isWithinMinute(Math.abs(aboveTrack(usual, scene)), scene)
    ? { ...moved, members: [...members, ...moved.members.filter((key) => !members.includes(key))] }
    : moved;
}

/** Whether every member of the track that is polled about as often has replied since. */
function isReviewed(usual: Claim, { atMs: sinceMs, members }: Track, { claims }: Scene): boolean {
  return claims.every(
    ({ atMs, key, pollIntervalMs }) =>
      atMs >= sinceMs || !members.includes(key) || pollIntervalMs > AS_OFTEN * usual.pollIntervalMs,
  );
}
