import { formatDuration, formatNumber } from "../model/text.ts";
import type { Opposition } from "./consensus.ts";

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
