import { namesText } from "../head/opposition-text.ts";
import { formatCount, formatDuration, formatNumber } from "../model/text.ts";
import type { Dispute } from "../status/dispute.ts";

/** Which sources contradict each other, by how much, and what would decide it. */
export function disputeText(dispute: Dispute): string {
  const { blocks, offMs, sides } = dispute;
  const all = sides.map(({ block, sources }) => `${sideText(sources, sides)} (block ${formatNumber(block)})`);
  const off = offMs === null ? "" : ` by ${formatDuration(offMs)} of block time`;
  const apart = blocks === 0 ? "at one height" : `${formatCount(blocks, "block")} apart`;
  return `${new Intl.ListFormat("en-GB").format(all)} contradict each other${off}, ${apart}, and as many stand on each side; ${whatDecides(dispute)} would decide it`;
}

/**
 * Hashes are compared at equal heights, and an RPC node is rarely polled at a height that two variants share.
 */
function whatDecides({ blocks, offMs, hasRpc }: Dispute): string {
  if (blocks === 0 && offMs === null) {
    return "one more variant whose answers have block hashes";
  }
  return hasRpc ? "one more variant" : "an RPC node (`rpc`) or one more variant";
}

/** By variant; by protocol and variant where another side has that variant, too. */
function sideText(sources: readonly string[], sides: Dispute["sides"]): string {
  const others = sides.filter((side) => side.sources !== sources).flatMap((side) => side.sources);
  const isShared = sources.some((key) => others.some((other) => namesText([key]) === namesText([other])));
  return isShared
    ? new Intl.ListFormat("en-GB").format(sources.map((key) => key.split("/").slice(0, 2).join(" ")))
    : namesText(sources);
}
