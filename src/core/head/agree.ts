/*
 * Where the head of a chain is. Each source bounds it from both sides, and it lies where the bounds of most providers overlap
 * (Marzullo 1984; RFC 5905 §11.2.1). docs/how-it-decides.md states the rule; test/core/head/agree.test.ts has a test for each
 * sentence.
 *
 * 1. Bounds: claim.ts.
 * 2. Which height is right: the height that the fewest providers contradict; then the height that most support.
 * 3. Where the head is: among the sources that are right, the highest block that most of them expect at the usual pace.
 * 4. Which source is wrong: a source above the bound of the right ones, or whose new block bounds the head below theirs.
 * 5. Memory: the last head, which breaks ties and does not fall by less than a minute.
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
  /** Keys of the sources with right heights whose block times contradict those of most others. */
  readonly misdated: readonly string[];
}

interface Bounded extends Claim, Bounds {
  /** The keys of the sources whose hashes are those of another fork. */
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
    // Not a spread: with this number of fields it takes Node 20 ten microseconds, and this half of one.
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
  return {
    consensus: consensusOf(right, [...byProof, ...byBounds], grounds),
    misdated: misdatedIn(right, grounds.pace),
  };
}

/** Which sources can be right if a height is the head, and which contradict it. */
interface Supposition {
  readonly top: Bounded;
  readonly set: readonly Bounded[];
  readonly against: readonly Bounded[];
}

/** Sources that may be on one fork, of all. */
interface Fork {
  readonly on: readonly Bounded[];
  readonly all: readonly Bounded[];
}

/**
 * For each height that the fewest providers contradict and the most back: the sources whose bounds contain it. There are
 * several if neither an RPC node with a new block nor the last head decides. Heights that are level were only read one after
 * the other.
 */
function setsOf(bounded: readonly Bounded[], grounds: Grounds): readonly (readonly Bounded[])[] {
  const { pace } = grounds;
  const best = heaviest(
    heightsOf(bounded, "high").flatMap((top) =>
      forksOf(bounded, top).map((fork) => suppose(top, fork, "high", grounds)),
    ),
    (supposed) => [...weightOf(supposed, pace), continuation(supposed.top, grounds), supposed.set.length],
  );
  return best.filter(({ top }) => best.every((other) => !isShadowed(top, other, pace))).map(({ set }) => set);
}

/**
 * The heights that may be the head. If the highest is within the bounds of all sources, it is the only one: all back it, and
 * the source that shows it contradicts a lower one.
 */
function heightsOf(claims: readonly Bounded[], upper: "high" | "usual"): readonly Bounded[] {
  const highest = claims.reduce((most, { low }) => Math.max(most, low), 0);
  const isAgreed = claims.every((one) => one[upper] >= highest && one.forkedFrom.size === 0);
  return isAgreed ? claims.filter(({ low }) => low === highest) : claims;
}

/** Whether another height replaces this one: it is higher, and level with it. */
function isShadowed(top: Bounded, other: Supposition, pace: Pace): boolean {
  return other.top.low > top.low && other.set.includes(top) && areLevel(other.top, top, pace);
}

/**
 * The sources that may be on one fork with `top`: once for each fork among them. Each fork has the sources of the other forks,
 * which count against it.
 */
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
 * Few providers that contradict it weigh more, then many that back it. A source without an upper bound backs only heights up to
 * its own.
 */
function weightOf({ against, set, top }: Supposition, pace: Pace): readonly number[] {
  const backers = set.filter((one) => one.usual !== Number.POSITIVE_INFINITY || areLevel(one, top, pace));
  const hasNewNode = backers.some((one) => isNewNode(one, pace));
  return [-providersOf(against), providersOf(backers), Number(hasNewNode)];
}

/**
 * A new block time is evidence; that sources without times are at most as late as tolerated is an assumption. So they do not
 * contradict a new block that continues from a head which they had reached; nor a new block of an RPC node, which has confirmed
 * its chain, unless it cannot continue from a head that block times have shown.
 */
function isOnlyLate(one: Bounded, top: Bounded, upper: "high" | "usual", grounds: Grounds): boolean {
  if (one.timeMs !== null || one.low >= top.low || !isNew(top, grounds.pace)) {
    return false;
  }
  const { confirmed } = grounds.before;
  const isTrusted = top.isNode && confirmed?.isDated !== true;
  const isMember = top.isNode || confirmed?.members.includes(one.key) === true;
  return upper === "usual" || isTrusted || (isMember && continues(top, grounds));
}

function isNewNode(claim: Claim, pace: Pace): boolean {
  return claim.isNode && isNew(claim, pace);
}

/** Whether the chain can have come from the last head that two providers confirmed to this height. */
function continues({ block }: Claim, { before: { confirmed }, nowMs, pace }: Grounds): boolean {
  return (
    confirmed !== null &&
    isWithinMinute(confirmed.block - block, pace) &&
    block <= confirmed.block + mostBlocksIn(nowMs - confirmed.atMs, pace)
  );
}

/** The weight of a height that continues from the last head: the furthest wins, because a lower one is late. */
function continuation(top: Bounded, grounds: Grounds): number {
  return continues(top, grounds) ? top.low : 0;
}

/** The head among the sources that are right, which need not be level with each other. */
function consensusOf(right: readonly Bounded[], opposed: readonly Opposition[], grounds: Grounds): Consensus {
  const { before, pace } = grounds;
  const [supposed] = heaviest(
    heightsOf(right, "usual").map((top) => suppose(top, { on: right, all: right }, "usual", grounds)),
    (one) => [
      ...weightOf(one, pace),
      continuation(one.top, grounds),
      one.set.length,
      one.top.low,
      -one.top.atMs,
    ],
  );
  const chosen = supposed?.top ?? null;
  if (chosen === null || !isShown(chosen, right, grounds)) {
    const members = before.members.filter((key) => opposed.every(({ source }) => source !== key));
    const head = before.confirmed === null ? null : before.head;
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

/** While the head continues from the last one, a source that had reached the last one counts as having reached it. */
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
 * Whether there is evidence for a head. A single source is not enough, unless it is an RPC node with a new block or continues
 * from the last head. Several sources without upper bounds are not enough, unless two providers are level.
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

/** The head with its memory. It does not fall by less than a minute, nor while a source that is right still shows it. */
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
  // A source without block times that is only lower is late.
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
  const dated = kind === "times" ? by.find(({ timeMs }) => timeMs !== null) : undefined;
  const offMs = dated === undefined ? null : apartMs(claim, dated, pace);
  const proof = proofs[claim.key]?.text ?? null;
  return { source: claim.key, kind, by: keysOf(by), block: claim.block, blocks, offMs, proof };
}

/** Whether a source is excluded for a height that cannot exist yet. */
export function isFarAhead(opposition: Opposition | null): boolean {
  return opposition !== null && opposition.blocks > LARGE_STEP_BLOCKS;
}

/** The time between two dated blocks, less the time that the chain takes for the blocks between. */
function apartMs(a: Claim, b: Claim, { intervalMs }: Pace): number | null {
  return a.timeMs === null || b.timeMs === null || intervalMs === null
    ? null
    : Math.abs((b.block - a.block) * intervalMs - (b.timeMs - a.timeMs));
}

/** Whether an RPC node has proved that a source is on another chain; a contradicted node proves nothing. */
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

/** Different hashes at the last two heights that both have shown: at one height alone it may be a reorg at the tip. */
function areForked(a: Claim, b: Claim): boolean {
  let different = 0;
  // From the latest: each pair of sources is compared in each decision, and in most the latest height is the same.
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

/** The sources whose block times cannot be of one chain with the block times of most others. */
function misdatedIn(right: readonly Claim[], pace: Pace): readonly string[] {
  const dated = right.filter(({ timeMs }) => timeMs !== null);
  const fitting = dated.map((supposed) => dated.filter((claim) => fitOneChain(claim, supposed, pace)));
  const [most = []] = heaviest(fitting, (fit) => [
    providersOf(fit),
    fit.length,
    fit.filter((claim) => isNew(claim, pace)).length,
  ]);
  return keysOf(dated.filter((claim) => !most.includes(claim)));
}

/**
 * Whether two claims can be of one chain: not with too many blocks in too short a time. Few blocks in a long time prove
 * nothing, because chains halt.
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

/** The items of the greatest weight, in their order. Of two weights the first different number decides. */
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
