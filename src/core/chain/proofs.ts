import { contradictionOf, type Proof, type Suspicion } from "../head/consensus.ts";
import type { ReportedBlock } from "../model/observation.ts";
import { formatNumber, shorten } from "../model/text.ts";
import { isFresh } from "../model/thresholds.ts";
import { newestSample, type SourceState } from "../source/source-state.ts";
import type { ChainState, WatchedChain } from "./chain-state.ts";
import type { Instant } from "./decide.ts";

/** The times that two sources report of one block differ by at most this. */
const SAME_TIME_SEC = 2;

/** Drops the proofs of sources that nothing contradicts any more, and of blocks that have left the samples. */
export function forgetProofs({ consensus, proofs, sources }: ChainState): void {
  for (const [key, { block }] of Object.entries(proofs)) {
    const source = sources.find((one) => one.key === key);
    if (
      source === undefined ||
      !isSuspect(source, { consensus }) ||
      source.samples.every((sample) => sample.block !== block)
    ) {
      delete proofs[key];
    }
  }
}

/** The blocks that a node of the chain should be asked for: one for each suspected target that was polled and has no proof. */
export function suspicionsOf({ polled, nowMs, state, watched }: Instant): readonly Suspicion[] {
  const suspects = polled
    .map(({ source }) => source)
    .filter(({ kind, key }) => kind !== "rpc" && state.proofs[key] === undefined)
    .filter((source) => isSuspect(source, state));
  const node = suspects.length > 0 && state.sources.find((source) => canProve(source, state, watched, nowMs));
  return suspects.flatMap((source) => {
    // A hash proves more than a time.
    const sample = source.samples.findLast(({ hash }) => hash !== null) ?? newestSample(source);
    return node && sample !== null ? [{ source: source.key, block: sample.block, node: node.key }] : [];
  });
}

/** Compares a node's block with a source's block at that height. `found`: null if the node does not have the block. */
export function proofOf(source: SourceState, { block, node }: Suspicion, found: ReportedBlock | null): Proof {
  const at = `block ${formatNumber(block)}`;
  const has = `the RPC node has ${at}`;
  const proof = (says: Proof["says"], text: string): Proof => ({ node, block, says, text });
  if (found === null) {
    return proof("none", `the RPC node does not have ${at}`);
  }
  const own = source.samples.findLast((sample) => sample.block === block);
  if (own?.hash != null && found.hash !== null && source.sharesHashes) {
    const [ownHash, itsHash] = [short(own.hash), short(found.hash)];
    return own.hash === found.hash
      ? proof("same", `${has} with the same hash`)
      : proof("other", `the RPC node reports hash ${itsHash} for ${at}, this source ${ownHash}`);
  }
  const [ownSec, itsSec] = [own?.timestampSec ?? null, found.timestampSec];
  const isSameTime = ownSec !== null && itsSec !== null && Math.abs(ownSec - itsSec) <= SAME_TIME_SEC;
  return isSameTime ? proof("same", `${has} with the same time`) : proof("unclear", has);
}

/** Whether other sources contradict a source, or it is on one side of a dispute. */
export function isSuspect(source: SourceState, { consensus }: Pick<ChainState, "consensus">): boolean {
  return (
    contradictionOf(source, { consensus }) !== null ||
    consensus.sides.some((side) => side.includes(source.key))
  );
}

/** Whether a source is a JSON-RPC node with a recent reply that no source contradicts. */
function canProve(
  source: SourceState,
  state: ChainState,
  { chain, sources }: WatchedChain,
  nowMs: number,
): boolean {
  return (
    sources.get(source.key)?.hasBlocks === true &&
    source.last?.kind === "head" &&
    isFresh(source, chain.thresholds, nowMs) &&
    !isSuspect(source, state)
  );
}

function short(hash: string): string {
  return shorten(hash, 10);
}
