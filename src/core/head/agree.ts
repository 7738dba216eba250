/*
 * Where the head of a chain is. Each source gives a lower and an upper bound of the head, and the head lies where the bounds of
 * most providers overlap (Marzullo 1984; RFC 5905 §11.2.1). docs/how-it-decides.md states the rule;
 * test/core/head/agree.test.ts has a test for each sentence.
 *
 * 1. Bounds: claim.ts.
 * 2. Which height is right: the height that the fewest providers contradict; then the height that most providers back.
 * 3. Where the head is: the highest block that most of the right sources expect at the usual pace.
 * 4. Which source is wrong: a source above the upper bound of a right source, or a source with block times whose own upper bound
 *    is below a right source.
 * 5. Memory: the last head breaks ties. A lower head replaces it only if no source at the head shows it any more, and the step
 *    is larger than a minute's blocks. After its sources fell silent, only a new block replaces it.
 */

import { type Bounds, boundsOf, type Claim, isNew } from "./claim.ts";
import {
  type ConfirmedHead,
  type Conflict,
  type Consensus,
  type HeadState,
  NO_CONSENSUS,
  type Opposition,
  type Pace,
  type Proof,
} from "./consensus.ts";
import { areLevel, isWithinMinute, LARGE_STEP_BLOCKS, MINUTE_MS, mostBlocksIn } from "./reach.ts";

/** The grounds of a decision besides the claims. */
export interface Grounds {
  readonly before: Consensus;
  /** The replies of an RPC node about the blocks of suspected sources, by the key of the source. */
  readonly proofs: Readonly<Record<string, Proof>>;
  readonly pace: Pace;
  /** The threshold for `lagging`. */
  readonly laggingMs: number;
  readonly nowMs: number;
}

export interface Decision {
  readonly consensus: Consensus;
  /** Keys of right sources whose block times contradict most other right sources. */
  readonly misdated: readonly string[];
}

interface Bounded extends Claim, Bounds {
  /** Keys of the sources whose hashes show another fork. */
  readonly forkedFrom: ReadonlySet<string>;
}

const ON_ONE_FORK: Bounded["forkedFrom"] = new Set();

/** The head that the claims agree on, and the excluded sources. */
export function agreeOnHead(claims: readonly Claim[], grounds: Grounds): Decision {
  const { before, proofs } = grounds;
  const disproved = claims.filter(({ key }) => isDisproved(proofs[key], before));
  const byProof = disproved.map((claim) => {
    const node = claims.find(({ key }) => key === proofs[claim.key]?.node) ?? claim;
    return oppositionOf(claim, [node], "hash", grounds);
  });
  const left = claims.filter((claim) => !disproved.includes(claim));
  const isForked = haveTwoHashes(left);
  const bounded = left.map((claim): Bounded => {
    const forked = isForked ? new Set(keysOf(left.filter((other) => areForked(other, claim)))) : ON_ONE_FORK;
    // `Object.assign` takes half a microsecond; a spread of this number of fields takes ten in Node 20.
    return Object.assign({ forkedFrom: forked }, claim, boundsOf(claim, left, grounds));
  });
  const sets = setsOf(bounded, grounds);
  const right = bounded.filter((one) => sets.every((set) => set.includes(one)));
  const rest = bounded.filter((one) => !right.includes(one) && sets.some((set) => set.includes(one)));
  if (rest.length > 0 && providersOf(right) <= providersOf(rest)) {
    const sides = sets.map((set) => keysOf(set.filter((one) => !right.includes(one))));
    return {
      consensus: { ...NO_CONSENSUS, opposed: byProof, sides, confirmed: before.confirmed },
      misdated: [],
    };
  }
  const byBounds = bounded
    .filter((one) => !right.includes(one))
    .flatMap((one) => exclusionOf(one, right, grounds) ?? []);
  const isSilent = before.members.every((key) => claims.every((claim) => claim.key !== key));
  return {
    consensus: consensusOf(right, [...byProof, ...byBounds], grounds, isSilent),
    misdated: misdatedIn(right, grounds.pace),
  };
}

/** If the height of `top` is the head: which sources can be right, and which contradict it. */
interface Supposition {
  readonly top: Bounded;
  readonly set: readonly Bounded[];
  readonly against: readonly Bounded[];
}

/** The sources that may be on one fork, and all sources. */
interface Fork {
  readonly on: readonly Bounded[];
  readonly all: readonly Bounded[];
}

/**
 * The sources whose bounds contain the best height: the height that the fewest providers contradict, then the height that
 * most providers back. An RPC node with a new block, the last head and the number of sources break ties, in this order; if a tie
 * is left, there are several sets. Of several level heights only the highest counts: the others were read earlier or are late.
 */
function setsOf(bounded: readonly Bounded[], grounds: Grounds): readonly (readonly Bounded[])[] {
  const { pace } = grounds;
  const best = heaviest(
    candidatesIn(bounded, "high").flatMap((top) =>
      forksOf(bounded, top).map((fork) => suppose(top, fork, "high", grounds)),
    ),
    (supposed) => [...weightOf(supposed, pace), continuation(supposed.top, grounds), supposed.set.length],
  );
  const sets = best
    .filter(({ top }) => best.every((other) => !isShadowed(top, other, pace)))
    .map(({ set }) => set);
  // Sources at one height have the same set, in the same order.
  return sets.filter((set, index) => sets.findIndex((other) => areEqual(other, set)) === index);
}

function areEqual(one: readonly Bounded[], other: readonly Bounded[]): boolean {
  return one.length === other.length && one.every((claim, index) => claim === other[index]);
}

/**
 * The sources whose height may be the head. If the bounds of all sources contain the highest height, and no hashes differ, only
 * that height is a candidate. Of several sources at the highest height, the one that was read first counts.
 */
function candidatesIn(claims: readonly Bounded[], upper: "high" | "usual"): readonly Bounded[] {
  const highest = claims.reduce((most, { low }) => Math.max(most, low), 0);
  const isAgreed = claims.every((one) => one[upper] >= highest && one.forkedFrom.size === 0);
  if (!isAgreed) {
    return claims;
  }
  const shown = claims.filter(({ low }) => low === highest);
  return shown.toSorted((one, other) => one.atMs - other.atMs).slice(0, 1);
}

/** Whether `other` replaces `top`: both are level, and `other` is higher. */
function isShadowed(top: Bounded, other: Supposition, pace: Pace): boolean {
  return other.top.low > top.low && other.set.includes(top) && areLevel(other.top, top, pace);
}

/** The forks that `top` may be on, each with the sources that may be on that fork. All other sources count against `top`. */
function forksOf(bounded: readonly Bounded[], top: Bounded): readonly Fork[] {
  const others = bounded.filter(({ key }) => !top.forkedFrom.has(key));
  const split = others.filter(({ forkedFrom }) => others.some(({ key }) => forkedFrom.has(key)));
  return (split.length === 0 ? [top] : split).map((anchor) => ({
    on: others.filter(({ key }) => !anchor.forkedFrom.has(key)),
    all: bounded,
  }));
}

function suppose(top: Bounded, { all, on }: Fork, upper: "high" | "usual", grounds: Grounds): Supposition {
  const set = on.filter((one) => one.low <= top.low && top.low <= one[upper]);
  const against = all.filter(
    (one) => !set.includes(one) && !(on.includes(one) && isOnlyLate(one, top, upper, grounds)),
  );
  return { top, set, against };
}

/**
 * The height that the fewest providers contradict weighs most; then the height that most providers back; then a height that an
 * RPC node with a new block backs. A source without an upper bound backs only heights that are level with its own.
 */
function weightOf({ against, set, top }: Supposition, pace: Pace): readonly number[] {
  const backers = set.filter((one) => one.usual !== Number.POSITIVE_INFINITY || areLevel(one, top, pace));
  const hasNewNode = backers.some((one) => isNewNode(one, pace));
  return [-providersOf(against), providersOf(backers), Number(hasNewNode)];
}

/**
 * Whether a lower source is only late, and does not contradict the new block of `top`. A new block time is evidence. The usual
 * pace and the lateness of a source without block times are assumptions.
 *
 * - At the usual pace, a source is only late if its own block is not new.
 * - At the fastest pace, a source with block times is never only late. A source without them is, if it had reached the last
 *   head and `top` continues from that head. If `top` is an RPC node, the source need not have reached the last head, and `top`
 *   must continue from it only if block times have shown it.
 */
function isOnlyLate(one: Bounded, top: Bounded, upper: "high" | "usual", grounds: Grounds): boolean {
  const { before, pace } = grounds;
  const { confirmed } = before;
  if (one.low >= top.low || !isNew(top, pace)) {
    return false;
  }
  if (upper === "usual") {
    return !isNew(one, pace);
  }
  if (one.timeMs !== null) {
    return false;
  }
  const hadReached = top.isNode || confirmed?.members.includes(one.key) === true;
  return (top.isNode && confirmed?.isDated !== true) || (hadReached && continues(top, grounds));
}

function isNewNode(claim: Claim, pace: Pace): boolean {
  return claim.isNode && isNew(claim, pace);
}

/**
 * Whether the chain can have advanced from the last confirmed head to this block. A step back of a minute's blocks is allowed.
 */
function continues({ block }: Claim, { before: { confirmed }, nowMs, pace }: Grounds): boolean {
  return (
    confirmed !== null &&
    isWithinMinute(confirmed.block - block, pace) &&
    block <= confirmed.block + mostBlocksIn(nowMs - confirmed.atMs, pace)
  );
}

/** The weight of a height that continues from the last head: the highest wins, because lower heights are late. */
function continuation(top: Bounded, grounds: Grounds): number {
  return continues(top, grounds) ? top.low : 0;
}

/**
 * The head among the right sources, which need not be level with each other. `isSilent`: no source that showed the last head has
 * fresh evidence.
 */
function consensusOf(
  right: readonly Bounded[],
  opposed: readonly Opposition[],
  grounds: Grounds,
  isSilent: boolean,
): Consensus {
  const { before, pace } = grounds;
  const [supposed] = heaviest(
    candidatesIn(right, "usual").map((top) => suppose(top, { on: right, all: right }, "usual", grounds)),
    (one) => [
      ...weightOf(one, pace),
      continuation(one.top, grounds),
      one.set.length,
      one.top.low,
      -one.top.atMs,
    ],
  );
  const chosen = supposed?.top ?? null;
  const isLate = isSilent && chosen !== null && isOnlyBelow(chosen, grounds);
  if (chosen === null || isLate || !isShown(chosen, right, grounds)) {
    const members = before.members.filter((key) => opposed.every(({ source }) => source !== key));
    const head = before.confirmed === null && !isLate ? null : before.head;
    return { ...before, head, members, opposed, sides: [] };
  }
  const level = right.filter((one) => areLevel(one, chosen, pace));
  return {
    head: headFrom(chosen, level, before.head, pace),
    members: keysOf(level),
    opposed,
    sides: [],
    confirmed: confirmedBy(chosen, level, grounds),
  };
}

/**
 * Whether a source is below the last head by more than a minute's blocks, without a new block. If the sources that showed the
 * head are silent, this does not show that the chain fell: the source is late.
 */
function isOnlyBelow(claim: Claim, { before: { head }, pace }: Grounds): boolean {
  return head !== null && !isWithinMinute(head.block - claim.block, pace) && !isNew(claim, pace);
}

/** The confirmed head to remember. A head that continues from the last one keeps the members of the last one. */
function confirmedBy(chosen: Claim, level: readonly Claim[], grounds: Grounds): ConfirmedHead | null {
  const { confirmed } = grounds.before;
  if (providersOf(level) < 2 && !isNewNode(chosen, grounds.pace)) {
    return confirmed;
  }
  const former = continues(chosen, grounds) ? confirmed : null;
  return {
    block: chosen.block,
    atMs: chosen.atMs,
    isDated: former?.isDated === true || level.some((one) => isNew(one, grounds.pace)),
    members: [...new Set([...(former?.members ?? []), ...keysOf(level)])],
  };
}

/**
 * Whether there is evidence for a head. A single source is evidence only if it is an RPC node with a new block or continues
 * from the last head. Several sources without upper bounds are evidence only if two providers are level.
 */
function isShown(chosen: Bounded, right: readonly Bounded[], grounds: Grounds): boolean {
  const { pace } = grounds;
  if (right.length < 2) {
    return isNewNode(chosen, pace) || continues(chosen, grounds);
  }
  return right.some(
    (one) =>
      one.usual !== Number.POSITIVE_INFINITY ||
      (one.provider !== chosen.provider && areLevel(one, chosen, pace)),
  );
}

/**
 * The new head. A lower head replaces the last one only if no level source shows the last one any more, and the step is larger
 * than a minute's blocks.
 */
function headFrom(chosen: Claim, level: readonly Claim[], before: HeadState | null, pace: Pace): HeadState {
  const freshUntilMs = level.reduce((latest, claim) => Math.max(latest, claim.freshUntilMs), 0);
  const { atMs, block, idleMs, slackMs } = chosen;
  const fallen = before === null ? 0 : before.block - block;
  const isStillShown = level.some((claim) => claim.block >= (before?.block ?? 0));
  if (before === null || fallen < 0 || !(isStillShown || isWithinMinute(fallen, pace))) {
    return { block, reachedMs: atMs - idleMs, atMs, slackMs, freshUntilMs };
  }
  return fallen === 0
    ? { ...before, atMs: Math.max(before.atMs, atMs), slackMs, freshUntilMs }
    : { ...before, freshUntilMs };
}

/** Why a source is not right, and which right sources contradict it; null if it is only late. */
function exclusionOf(one: Bounded, right: readonly Bounded[], grounds: Grounds): Opposition | null {
  const forked = right.filter(({ key }) => one.forkedFrom.has(key));
  if (forked.length > 0) {
    return oppositionOf(one, forked, "hash", grounds);
  }
  const below = right.filter(({ high }) => one.low > high);
  if (below.length > 0) {
    const areDated = one.timeMs !== null && below.some(({ timeMs }) => timeMs !== null);
    return oppositionOf(one, below, areDated ? "times" : "ahead", grounds);
  }
  // A source without block times that is below the others is only late.
  const above = one.timeMs === null ? [] : right.filter(({ low }) => low > one.high);
  return above.length === 0
    ? null
    : oppositionOf(one, above, isNew(one, grounds.pace) ? "ahead" : "times", grounds);
}

function oppositionOf(
  claim: Claim,
  by: readonly Claim[],
  kind: Conflict,
  { pace, proofs }: Grounds,
): Opposition {
  const blocks = claim.block - Math.max(...by.map(({ block }) => block));
  const dated = kind === "times" ? by.filter(({ timeMs }) => timeMs !== null) : [];
  const [first] = dated;
  const offMs = first === undefined ? null : apartMs(claim, first, pace);
  const shown = first === undefined ? by : dated;
  const proof = proofs[claim.key]?.text ?? null;
  return { source: claim.key, kind, by: keysOf(shown), block: claim.block, blocks, offMs, proof };
}

/** Whether an excluded source is too far above the others for a reorg. */
export function isFarAhead(opposition: Opposition | null): boolean {
  return opposition !== null && opposition.blocks > LARGE_STEP_BLOCKS;
}

/** How much the time between two dated blocks differs from the time that the chain needs for them at its pace. */
function apartMs(a: Claim, b: Claim, { intervalMs }: Pace): number | null {
  return a.timeMs === null || b.timeMs === null || intervalMs === null
    ? null
    : Math.abs((b.block - a.block) * intervalMs - (b.timeMs - a.timeMs));
}

/** Whether an RPC node has proved that a source is on another chain; a node that other sources contradict proves nothing. */
function isDisproved(proof: Proof | undefined, { opposed }: Consensus): boolean {
  return proof?.says === "other" && opposed.every(({ source }) => source !== proof.node);
}

/** Whether some height has two hashes; if not, no sources need to be compared. */
function haveTwoHashes(claims: readonly Claim[]): boolean {
  const hashes = new Map<number, string | null>();
  return claims.some(({ hashed }) =>
    hashed.some(({ block, hash }) => {
      const known = hashes.get(block) ?? hash;
      hashes.set(block, hash);
      return known !== hash;
    }),
  );
}

/**
 * Whether the hashes differ at the last two heights that both sources have shown. At one height alone, a reorg at the tip may
 * be the reason.
 */
function areForked(a: Claim, b: Claim): boolean {
  let different = 0;
  // Starts at the latest height: its hashes are equal in most cases, which ends the comparison.
  for (let index = a === b ? -1 : a.hashed.length - 1; index >= 0 && different < 2; index -= 1) {
    const sample = a.hashed[index];
    const same = b.hashed.findLast(({ block }) => block === sample?.block);
    if (same !== undefined && same.hash === sample?.hash) {
      return false;
    }
    different += Number(same !== undefined);
  }
  return different === 2;
}

/** The sources whose block times contradict most other sources. */
function misdatedIn(right: readonly Claim[], pace: Pace): readonly string[] {
  const dated = right.filter(({ timeMs }) => timeMs !== null);
  const fitting = dated.map((supposed) => dated.filter((claim) => fitOneChain(claim, supposed, pace)));
  if (fitting.every((fit) => fit.length === dated.length)) {
    return [];
  }
  const [most = []] = heaviest(fitting, (fit) => [
    providersOf(fit),
    fit.length,
    fit.filter((claim) => isNew(claim, pace)).length,
  ]);
  return keysOf(dated.filter((claim) => !most.includes(claim)));
}

/**
 * Whether two dated blocks can be of one chain: the chain had the time to make the blocks between them. Few blocks in a long
 * time prove nothing, because chains halt.
 */
function fitOneChain(a: Claim, b: Claim, pace: Pace): boolean {
  const [low, high] = a.block <= b.block ? [a, b] : [b, a];
  const spanMs = (high.timeMs ?? 0) - (low.timeMs ?? 0);
  return low.block === high.block
    ? Math.abs(spanMs) <= MINUTE_MS
    : spanMs >= -MINUTE_MS && high.block - low.block <= mostBlocksIn(spanMs, pace);
}

function providersOf(claims: readonly Claim[]): number {
  return new Set(claims.map(({ provider }) => provider)).size;
}

function keysOf(claims: readonly Claim[]): readonly string[] {
  return claims.map(({ key }) => key);
}

/** The items of the greatest weight, in their order. Weights are compared number by number. */
function heaviest<Item>(items: readonly Item[], weigh: (item: Item) => readonly number[]): readonly Item[] {
  if (items.length < 2) {
    return items;
  }
  let best: Item[] = [];
  let bestWeight: readonly number[] = [];
  for (const item of items) {
    const weight = weigh(item);
    const at = weight.findIndex((number, index) => number !== bestWeight[index]);
    if (at === -1) {
      best.push(item);
    } else if ((weight[at] ?? 0) > (bestWeight[at] ?? Number.NEGATIVE_INFINITY)) {
      best = [item];
      bestWeight = weight;
    }
  }
  return best;
}
