import type { Opposition } from "../head/consensus.ts";
import { formatCount, formatDuration, formatList, formatNumber } from "../model/text.ts";

/** Why a source is excluded, as a clause: what it reports, and which sources contradict it. */
export function oppositionText(opposition: Opposition): string {
  const { proof } = opposition;
  return proof === null ? claimText(opposition) : `${claimText(opposition)}; ${proof}`;
}

/** What a `diverged` target is: ahead of the chain, or of another chain or fork; and why. */
export function divergedText(opposition: Opposition): string {
  const { blocks, kind } = opposition;
  if (kind === "hash") {
    return `on another fork or chain: ${oppositionText(opposition)}`;
  }
  const isAhead = kind === "ahead" && blocks >= 0;
  return `${isAhead ? "ahead of the chain" : "answers for another chain"}: ${oppositionText(opposition)}`;
}

function claimText({ kind, by, block, blocks, offMs }: Opposition): string {
  const names = namesOf(by);
  const others = formatList(names);
  const verb = names.length === 1 ? "shows" : "agree on";
  const at = `block ${formatNumber(block)}`;
  switch (kind) {
    case "hash":
      return `its hash of ${at} differs from that of ${others}`;
    case "times":
      return offMs === null
        ? `its time of ${at} contradicts what ${others} ${verb}`
        : `its time of ${at} differs by ${formatDuration(offMs)} from what the times of ${others} imply`;
    case "ahead":
      return blocks >= 0
        ? `reports ${at}, which is ${formatCount(blocks, "block")} above what ${others} ${verb}`
        : `reports ${at} as new, which is ${formatCount(-blocks, "block")} below what ${others} ${verb}`;
  }
}

/** The variants of the sources, as people on call know them. Several protocols may have one variant, so each counts once. */
function namesOf(keys: readonly string[]): readonly string[] {
  return [
    ...new Set(keys.map((key) => (key.startsWith("rpc/") ? "an RPC node" : (key.split("/")[1] ?? key)))),
  ];
}
