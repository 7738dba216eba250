/*
 * The head of a chain, by consensus of its sources. docs/how-it-decides.md explains it to people on call.
 *
 * Every source may be wrong: behind, stopped, on another chain or fork, or far ahead of what exists. As in the clock
 * selection of NTP (RFC 5905 §11.2.1, after Marzullo 1984), the order of replies does not matter, and no average is
 * taken. Instead:
 *
 * 1. Suppose that each claim in turn is the head, unless it is old by its own block time. A source contradicts it by other
 *    hashes, by block times that cannot be on one chain, by being above it by more than the chain can have made, or by being as
 *    far below it although its block was the head just before. A lower height alone is lag, and contradicts nothing.
 * 2. The claim compatible with the most providers, then the most sources, decides which sources are excluded (sources of one
 *    provider fail together). If two sets are equal, the sources in both decide, if they have more providers than the rest.
 *    Otherwise there is no reference.
 * 3. Of the remaining sources that advance, or stand at the highest block, the head is the highest block that two providers
 *    confirm, at the place where most of them are. One exception: if that has fallen below the track, a source still on the
 *    track that has shown more is right, unless two providers below it never were on the track, or have newer blocks.
 * 4. A source above a head that two providers confirm, by more than the chain can have made, is excluded too. It stays so while the
 *    head stands still.
 *
 * Everything follows from the last replies of each source. The only memory is the track: the last head that two providers
 * confirmed, and the sources level with it. It breaks ties; it never outvotes a majority that was not on it.
 */

import { formatDuration, formatList, formatNumber } from "../model/text.ts";
import {
  type ChainAt,
  type Conflict,
  type Consensus,
  type HeadState,
  NO_CONSENSUS,
  type Opposition,
  type Pace,
  type Proof,
} from "./chain-state.ts";
import { chooseHead } from "./choose-head.ts";
import { areLevel, type Claim, claimsOf, isWithinMinute, keysOf, providersOf } from "./claim.ts";
import { conflictOf, largestSets, misdatedIn, mostBlocks } from "./contradictions.ts";

/** A step back is large beyond this, and beyond what the thresholds for `lagging` and `stalled` bear. */
export const LARGE_STEP_BLOCKS = 256;

/** What was decided, and what the pace of the chain may be measured from. */
export interface Decision {
  readonly consensus: Consensus;
  /** What a second provider has shown of the head; null where the head rests on one. */
  readonly witness: Claim | null;
  /** Keys of the sources with right heights whose block times contradict those of most others. */
  readonly misdated: readonly string[];
}

/** What all sources together say of the head. */
export function decide(at: ChainAt): Decision {
  const { pace, state } = at;
  const { consensus: before, proofs } = state;
  const all = claimsOf(at);
  const disproved = all
    .filter(({ key }) => isDisproved(proofs[key], before))
    .map((claim) => {
      const node = all.find(({ key }) => key === proofs[claim.key]?.node) ?? claim;
      return oppositionOf(claim, [node], "hash", at);
    });
  const still = all.flatMap((claim) => stillOpposed(claim, all, at));
  const claims = all.filter(({ key }) => [...disproved, ...still].every(({ source }) => source !== key));
  const sets = largestSets(claims, pace);
  const common = (sets[0] ?? []).filter((claim) => sets.every((set) => set.includes(claim)));
  const rest = sets.flat().filter((claim) => !common.includes(claim));
  if (rest.length > 0 && providersOf(common) <= providersOf(rest)) {
    const undecided = sets.map((set) => keysOf(set.filter((claim) => !common.includes(claim))));
    const opposed = [...disproved, ...still];
    const consensus = { ...NO_CONSENSUS, opposed, undecided, track: before.track };
    return { consensus, witness: null, misdated: [] };
  }
  const excluded = all
    .filter((claim) => !common.includes(claim) && disproved.every(({ source }) => source !== claim.key))
    .flatMap(
      (claim) => exclusionOf(claim, common, at) ?? still.find(({ source }) => source === claim.key) ?? [],
    );
  return decideAmong(common, [...excluded, ...disproved], at);
}

/** Whether an RPC node has proved that a source is on another chain; a contradicted node proves nothing. */
function isDisproved(proof: Proof | undefined, { opposed }: Consensus): boolean {
  return proof?.says === "other" && opposed.every(({ source }) => source !== proof.node);
}

/** Of these a height is the reason, with the time at which the chain can have got there. */
const HEIGHTS: readonly Conflict[] = ["ahead", "times"];

/**
 * Why a source that was excluded for its height stays so while it is far above, and two providers that agree stand at the head: with
 * time alone, nothing becomes possible that was not. Once they are `stalled`, it counts again if it advances.
 */
function stillOpposed(claim: Claim, all: readonly Claim[], at: ChainAt): readonly Opposition[] {
  const { pace, state } = at;
  const { head, members, opposed } = state.consensus;
  const former = opposed.find(({ kind, source }) => source === claim.key && HEIGHTS.includes(kind));
  if (head === null || former === undefined) {
    return [];
  }
  const isAbove = claim.block - head.block > mostBlocks(0, claim.timeMs !== null, pace);
  const by = all.filter(
    (other) =>
      members.includes(other.key) && other.block === head.block && (other.isMoving || !claim.isMoving),
  );
  return isAbove && providersOf(by) > 1 ? [oppositionOf(claim, by, former.kind, at)] : [];
}

/** The worst first. */
const CONFLICTS: readonly Conflict[] = ["hash", "times", "ahead", "below"];

/** Which members of a set contradict a source outside of it. */
function exclusionOf(claim: Claim, set: readonly Claim[], at: ChainAt): Opposition | null {
  const by = set.filter((member) => conflictOf(claim, member, at.pace) !== null);
  const kinds = by.map((member) => conflictOf(claim, member, at.pace));
  const worst = CONFLICTS.find((kind) => kinds.includes(kind));
  return worst === undefined ? null : oppositionOf(claim, by, worst, at);
}

function oppositionOf(
  claim: Claim,
  by: readonly Claim[],
  kind: Conflict,
  { pace, state }: ChainAt,
): Opposition {
  const block = claim.source.samples.at(-1)?.block ?? claim.block;
  const blocks = block - Math.max(...by.map((other) => other.block));
  const dated = kind === "times" ? by.find(({ timeMs }) => timeMs !== null) : undefined;
  const offMs = dated === undefined ? null : apartMs(claim, dated, pace);
  const proof = state.proofs[claim.key]?.text ?? null;
  return { source: claim.key, kind, by: keysOf(by), block, blocks, offMs, proof };
}

/** How much longer, or shorter, than the chain takes for the blocks between is the time between two dated blocks. */
function apartMs(a: Claim, b: Claim, { intervalMs }: Pace): number | null {
  return a.timeMs === null || b.timeMs === null || intervalMs === null
    ? null
    : Math.abs((b.block - a.block) * intervalMs - (b.timeMs - a.timeMs));
}

/** The head of the sources that can be right together, and which of them are too far above it. */
function decideAmong(set: readonly Claim[], excluded: readonly Opposition[], at: ChainAt): Decision {
  const { pace, state } = at;
  const before = state.consensus;
  const misdated = keysOf(misdatedIn(set, pace));
  const { chosen, isConfirmed, track, witness } = chooseHead(set, before.track, pace);
  if (chosen === null) {
    const members = before.members.filter((key) => excluded.every(({ source }) => source !== key));
    const head = track === null ? null : heldHead(before.head, set);
    return { consensus: { ...before, head, members, opposed: excluded, undecided: [] }, witness, misdated };
  }
  const beyond = isConfirmed ? set.filter((claim) => isBeyond(claim, chosen, before, pace)) : [];
  const level = set.filter((claim) => areLevel(claim, chosen, pace) && !beyond.includes(claim));
  const opposed = [...excluded, ...beyond.map((claim) => oppositionOf(claim, level, "ahead", at))];
  const head = headFrom(chosen, level, before.head, pace);
  return { consensus: { head, members: keysOf(level), opposed, undecided: [], track }, witness, misdated };
}

/** While nothing moves, the sources at the last head confirm it. */
function heldHead(head: HeadState | null, set: readonly Claim[]): HeadState | null {
  let [atMs, freshUntilMs] = [head?.atMs ?? 0, head?.freshUntilMs ?? 0];
  for (const claim of set.filter(({ block }) => block === head?.block)) {
    atMs = Math.max(atMs, claim.atMs);
    freshUntilMs = Math.max(freshUntilMs, claim.freshUntilMs);
  }
  return head && { ...head, atMs, freshUntilMs };
}

/** Whether a source is further above the head than the chain can have made since; it stays so until the head is seen again. */
function isBeyond({ atMs, block, key, timeMs }: Claim, head: Claim, before: Consensus, pace: Pace): boolean {
  const was =
    before.head?.atMs === head.atMs &&
    before.opposed.some(({ kind, source }) => source === key && kind === "ahead");
  return was || block - head.block > mostBlocks(atMs - head.atMs, timeMs !== null, pace);
}

/** The head as it is remembered. It does not fall by less than a minute, nor while a source that agrees still shows it. */
function headFrom(chosen: Claim, level: readonly Claim[], before: HeadState | null, pace: Pace): HeadState {
  const freshUntilMs = level.reduce((latest, claim) => Math.max(latest, claim.freshUntilMs), 0);
  const { block, atMs, idleMs, slackMs } = chosen;
  const fallen = before === null ? 0 : before.block - block;
  const isStillShown = level.some((claim) => claim.block >= (before?.block ?? 0));
  if (before === null || fallen < 0 || !(isStillShown || isWithinMinute(fallen, pace))) {
    return { block, reachedMs: atMs - idleMs, atMs, slackMs, freshUntilMs };
  }
  return fallen === 0
    ? { ...before, atMs: Math.max(before.atMs, atMs), slackMs, freshUntilMs }
    : { ...before, freshUntilMs };
}

/** Whether a source is excluded for a height that cannot exist yet. */
export function isFarAhead(opposition: Opposition | undefined): opposition is Opposition {
  return opposition !== undefined && opposition.kind !== "below" && opposition.blocks > LARGE_STEP_BLOCKS;
}

/** Why a source is excluded, as a clause: its claim, and the sources that contradict it. */
export function oppositionText(opposition: Opposition): string {
  const { proof } = opposition;
  return proof === null ? claimText(opposition) : `${claimText(opposition)}; ${proof}`;
}

function claimText({ kind, by, block, blocks, offMs }: Opposition): string {
  const others = namesText(by);
  const verb = by.length === 1 ? "shows" : "agree on";
  switch (kind) {
    case "hash":
      return `its hash of block ${formatNumber(block)} is not that of ${others}`;
    case "times":
      return `its time of block ${formatNumber(block)} contradicts ${others}${offMs === null ? "" : ` by ${formatDuration(offMs)}`}`;
    case "ahead":
    case "below":
      return blocks >= 0
        ? `claims block ${formatNumber(block)}, ${formatNumber(blocks)} beyond what ${others} ${verb}`
        : `claims block ${formatNumber(block)}${kind === "ahead" ? " to be new" : ""}, ${formatNumber(-blocks)} below what ${others} ${verb}`;
  }
}

/** By variant, as on-call knows them: `multichain and subgraph`. */
function namesText(keys: readonly string[]): string {
  const names = [
    ...new Set(keys.map((key) => (key.startsWith("rpc/") ? "an RPC node" : (key.split("/")[1] ?? key)))),
  ];
  return formatList(names);
}
