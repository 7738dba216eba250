import { formatCount, formatDuration, formatNumber } from "../../core/model/text.ts";
import type { ParityJson, StatusJson } from "../api/api-schema.ts";
import { comparedKeys, targetKey } from "../api/filter-status.ts";
import { variantName } from "./target.ts";

/** The pairs whose data differ. */
export function findDifferences({ parity }: Pick<StatusJson, "parity">): readonly ParityJson[] {
  return parity.filter(({ result }) => result === "different");
}

/** The differences that need a person: of none of the two targets in maintenance. */
export function urgentDifferences(json: StatusJson): readonly ParityJson[] {
  const planned = new Set(json.targets.filter(({ maintenance }) => maintenance).map(targetKey));
  return findDifferences(json).filter((one) => !comparedKeys(one).some((key) => planned.has(key)));
}

/** The keys of the targets whose data differ: of two both, or the odd one out where that is known. */
export function differingKeys(json: Pick<StatusJson, "parity" | "targets">): ReadonlySet<string> {
  const differing = new Set(
    findDifferences(json).flatMap((one) => {
      const [own = "", ...against] = comparedKeys(one);
      const isOdd = (variant: string): boolean => one.odd === null || one.odd === variant;
      return [...(isOdd(one.variant) ? [own] : []), ...(isOdd(one.against) ? against : [])];
    }),
  );
  return new Set(json.targets.map(targetKey).filter((key) => differing.has(key)));
}

/** `airdrops on Base (campaigns)`. */
export function parityTitle(
  { protocol, chain, probe }: ParityJson,
  { chains }: Pick<StatusJson, "chains">,
): string {
  const name = chains.find(({ slug }) => slug === chain)?.name ?? chain;
  return `${protocol} on ${name} (${probe})`;
}

/** `subgraph has 6141 and multichain 6143 at block 37,999,990, for 20 min; subgraph is the odd one out`. */
export function describeDifference(parity: ParityJson, nowMs: number): string {
  const { against, against_value, block, odd, since, value } = parity;
  const at = block === null ? "" : ` at block ${formatNumber(block)}`;
  const forText = since === null ? "" : `, for ${formatDuration(Math.max(0, nowMs - Date.parse(since)))}`;
  const who = odd === null ? "" : `; ${odd} is the odd one out`;
  return `${variantName(parity)} has ${value ?? "nothing"} and ${against} ${against_value ?? "nothing"}${at}${forText}${who}`;
}

/** `Parity: 12 of 14 pairs equal, 1 different, 1 unknown`; null where nothing is compared. */
export function paritySummary({ parity }: Pick<StatusJson, "parity">): string | null {
  if (parity.length === 0) {
    return null;
  }
  const count = (result: ParityJson["result"]) => parity.filter((one) => one.result === result).length;
  const rest = [
    count("different") === 0 ? [] : `${formatNumber(count("different"))} different`,
    count("unknown") === 0 ? [] : `${formatNumber(count("unknown"))} unknown`,
  ].flat();
  const equal = `${formatNumber(count("equal"))} of ${formatCount(parity.length, "pair")} equal`;
  return `Parity: ${[equal, ...rest].join(", ")}`;
}
