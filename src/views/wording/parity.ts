import { variantName } from "../../core/model/fleet.ts";
import type { ParityReport, Report } from "../../core/model/report.ts";
import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";

/** The compared targets whose data differ. */
export function findDifferences({ parity }: Pick<Report, "parity">): readonly ParityReport[] {
  return parity.filter(({ result }) => result === "different");
}

/** `airdrops on Base (campaigns)`. */
export function parityTitle({ protocol, chain, probe }: ParityReport, { chains }: Report): string {
  // The chain is left out if there is only one.
  const name = chains.find(({ slug }) => slug === chain)?.name ?? chain;
  return `${protocol}${chains.length === 1 ? "" : ` on ${name}`} (${probe})`;
}

/** `subgraph has 6141 and multichain 6143 at block 37,999,990, for 20 min; subgraph is the odd one out`. */
export function describeDifference(parity: ParityReport, nowMs: number): string {
  const { against, against_value, block, odd, since, value } = parity;
  const at = block === null ? "" : ` at block ${formatNumber(block)}`;
  const forText = since === null ? "" : `, for ${formatDuration(Math.max(0, nowMs - Date.parse(since)))}`;
  const verdict = odd === null ? "" : `; ${odd} is the odd one out`;
  return `${variantName(parity)} has ${value ?? "nothing"} and ${against} ${against_value ?? "nothing"}${at}${forText}${verdict}`;
}

/** `Parity: 12 of 14 comparisons equal, 1 different, 1 unknown`; null if nothing is compared. */
export function paritySummary({ parity }: Pick<Report, "parity">): string | null {
  if (parity.length === 0) {
    return null;
  }
  const count = (result: ParityReport["result"]) => parity.filter((one) => one.result === result).length;
  const rest = (["different", "unknown"] as const).flatMap((result) =>
    count(result) === 0 ? [] : `, ${formatNumber(count(result))} ${result}`,
  );
  const equal = formatNumber(count("equal"));
  return `Parity: ${equal} of ${formatCount(parity.length, "comparison")} equal${rest.join("")}`;
}
