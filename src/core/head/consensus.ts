/*
 * The head of a chain, by consensus of its sources. docs/how-it-decides.md explains it to people on call.
 *
 * Every source may be wrong: behind, stopped, on another chain or fork, or far ahead of what exists. As in the clock
 * selection of NTP (RFC 5905 §11.2.1, after Marzullo 1984), the order of replies does not matter, and no average is
 * taken. Instead:
 *
 * 1. Suppose that each claim in turn is the head. A source contradicts it by other hashes, by block times that cannot be on one
 *    chain, by being above it by more than the chain can have made, or by being as far below it although it was at the head just
 *    before. A lower height alone is lag, and contradicts nothing.
 * 2. The claim compatible with the most providers, then the most sources, decides which sources are excluded (sources of one
 *    provider fail together). If two sets are equal, the sources in both decide, if they have more providers than the rest.
 *    Otherwise there is no reference.
 * 3. Of the remaining sources that advance, the head is the highest block that two providers confirm, at the place where most of
 *    them are. One exception: if that has fallen below the track, a source still on the track that has shown more is right.
 * 4. A source above a head that two providers confirm, by more than the chain can have made, is excluded too.
 *
 * Everything follows from the last replies of each source. The only memory is the track: the last head that two providers
 * confirmed, and the sources level with it. It breaks ties; it never outvotes a majority that was not on it.
 */

import { formatDuration, formatNumber } from "../model/text.ts";
import type { Proof } from "./chain-state.ts";
import { chooseHead, type HeadState, headFrom, heldHead } from "./choose-head.ts";
import { type Claim, keysOf, providersOf } from "./claim.ts";
import { areLevel, type ChainContext, type Scene, sceneOf, type Track } from "./scene.ts";
import {
  apartMs,
  type Conflict,
  type Conflicts,
  conflictsIn,
  largestSets,
  misdatedIn,
  mostBlocks,
} from "./selection.ts";

/** Why a source is excluded: which sources contradict it, and by how much. */
export interface Opposition {
  readonly source: string;
  readonly kind: Conflict;
  readonly by: readonly string[];
  readonly block: number;
  /** Its distance to the highest source that contradicts it. */
  readonly blocks: number;
  /** How far its block times are from those of a source that contradicts them; null for other conflicts. */
  readonly offMs: number | null;
  /** The RPC node's reply about its block, as a clause; null if no node was asked. */
  readonly proof: string | null;
}

export interface Consensus {
  readonly head: HeadState | null;
  /** Keys of the sources that are level with the head. */
  readonly members: readonly string[];
  readonly opposed: readonly Opposition[];
  /** Where sets of equal weight oppose each other: the keys of each. Empty once it is decided. */
  readonly undecided: readonly (readonly string[])[];
  readonly track: Track | null;
}

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

export const NO_CONSENSUS: Consensus = { head: null, members: [], opposed: [], undecided: [], track: null };

export function decide(claims: readonly Claim[], before: Consensus, chain: ChainContext): Decision {
  const disproved = claims.filter(({ key }) => isDisproved(chain.proofs[key], before));
  const scene = sceneOf(
    claims.filter((claim) => !disproved.includes(claim)),
    before.track,
    chain,
  );
  const conflicts = conflictsIn(scene);
  const sets = largestSets(scene, conflicts);
  const excluded = disproved.map((claim) => {
    const node = claims.find(({ key }) => key === chain.proofs[claim.key]?.node) ?? claim;
    return oppositionOf(claim, [node], "hash", scene);
  });
  const common = commonOf(sets);
  const rest = sets.flat().filter((claim) => !common.includes(claim));
  if (rest.length > 0 && providersOf(common) <= providersOf(rest)) {
    const undecided = sets.map((set) => keysOf(set.filter((claim) => !common.includes(claim))));
    return {
      consensus: { ...NO_CONSENSUS, opposed: excluded, undecided, track: before.track },
      witness: null,
      misdated: [],
    };
  }
  excluded.unshift(...excludedBy(common, scene, conflicts));
  return decideAmong(common, excluded, before, chain);
}

/** Whether an RPC node has proved that a source is on another chain; a contradicted node proves nothing. */
function isDisproved(proof: Proof | undefined, { opposed }: Consensus): boolean {
  return proof?.says === "other" && opposed.every(({ source }) => source !== proof.node);
}

/** What sets of equal weight have in common decides, if more providers are in that than in the rest of them. */
function commonOf([first = [], ...others]: readonly (readonly Claim[])[]): readonly Claim[] {
  return first.filter((claim) => others.every((set) => set.includes(claim)));
}

/** The sources outside the set that members contradict, each with these members. */
function excludedBy(set: readonly Claim[], scene: Scene, conflicts: Conflicts): readonly Opposition[] {
  const outside = set.length === scene.claims.length ? [] : scene.claims.filter((one) => !set.includes(one));
  return outside.flatMap((claim) => {
    const by = set.filter((member) => conflicts.of(claim, member) !== null);
    const kinds = by.flatMap((member) => conflicts.of(claim, member) ?? []);
    const worst =
      kinds.find((kind) => kind === "hash" || kind === "times") ??
      kinds.find((kind) => kind === "ahead") ??
      kinds[0];
    return worst === undefined ? [] : [oppositionOf(claim, by, worst, scene)];
  });
}

function oppositionOf(
  claim: Claim,
  by: readonly Claim[],
  kind: Conflict,
  { pace, proofs }: Scene,
): Opposition {
  const block = claim.samples.at(-1)?.block ?? claim.block;
  const blocks = block - Math.max(...by.map((other) => other.block));
  const dated = kind === "times" ? by.find(({ timeMs }) => timeMs !== null) : undefined;
  const offMs = dated === undefined ? null : apartMs(claim, dated, pace);
  const proof = proofs[claim.key]?.text ?? null;
  return { source: claim.key, kind, by: keysOf(by), block, blocks, offMs, proof };
}

/** The head of the sources that can be right together, and which of them are too far above it. */
function decideAmong(
  set: readonly Claim[],
  excluded: readonly Opposition[],
  before: Consensus,
  chain: ChainContext,
): Decision {
  const scene = sceneOf(set, before.track, chain);
  const misdated = keysOf(misdatedIn(set, scene));
  const { chosen, isConfirmed, track, witness } = chooseHead(set, scene);
  if (chosen === null || isOutdated(chosen, before.head, set)) {
    const members = before.members.filter((key) => excluded.every(({ source }) => source !== key));
    const head = track === null ? null : heldHead(before.head, set);
    return { consensus: { ...before, head, members, opposed: excluded, undecided: [] }, witness, misdated };
  }
  const beyond = isConfirmed ? set.filter((claim) => isBeyond(claim, chosen, before, scene)) : [];
  const level = set.filter((claim) => areLevel(claim, chosen, scene) && !beyond.includes(claim));
  const opposed = [...excluded, ...beyond.map((claim) => oppositionOf(claim, level, "ahead", scene))];
  const head = headFrom(chosen, level, before.head, scene);
  return { consensus: { head, members: keysOf(level), opposed, undecided: [], track }, witness, misdated };
}

/** Whether it was read before the present head was seen, while a source still shows that head: an old reply does not bring the head down. */
function isOutdated({ atMs, block }: Claim, head: HeadState | null, set: readonly Claim[]): boolean {
  return (
    head !== null && block < head.block && atMs < head.atMs && set.some((claim) => claim.block >= head.block)
  );
}

/** Whether a source is further above the head than the chain can have made since; it stays so until the head is seen again. */
function isBeyond(
  { atMs, block, key, timeMs }: Claim,
  head: Claim,
  before: Consensus,
  { pace }: Scene,
): boolean {
  const was =
    before.head?.atMs === head.atMs &&
    before.opposed.some(({ kind, source }) => source === key && kind === "ahead");
  return was || block - head.block > mostBlocks(atMs - head.atMs, timeMs !== null, pace);
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
        : `claims block ${formatNumber(block)} to be new, ${formatNumber(-blocks)} below what ${others} ${verb}`;
  }
}

/** By variant, as on-call knows them: `multichain and subgraph`. */
export function namesText(keys: readonly string[]): string {
  const names = [
    ...new Set(keys.map((key) => (key.startsWith("rpc/") ? "an RPC node" : (key.split("/")[1] ?? key)))),
  ];
  return new Intl.ListFormat("en-GB").format(names);
}
