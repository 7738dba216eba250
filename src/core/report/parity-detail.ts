import { variantName } from "../model/fleet.ts";
import { formatCount, formatDuration, formatNumber } from "../model/text.ts";
import { isContradictory, isSteady, type KnownValues } from "../parity/known-values.ts";
import { DIFFERENCES, DIFFERENT_AFTER_MS } from "../parity/pair-state.ts";
import type { ParityPair } from "../parity/watched-probe.ts";
import type { KnownPair } from "./report-parity.ts";

/** The odd ones out by key, each with the targets that are equal to one another. */
type Odd = ReadonlyMap<string, readonly string[]>;

/** Why two targets are said to have the same data, or not, in one sentence. */
export function parityDetail(known: KnownPair, odd: Odd, nowMs: number): string {
  const { pair, state } = known;
  const { comparison, result, sinceMs } = state;
  if (comparison === null || sinceMs === null) {
    return `not known to be equal to ${nameOf(pair, "against")}: ${whyUnknown(known)}`;
  }
  const at = `at block ${formatNumber(comparison.block)}`;
  const forText = `for ${formatDuration(Math.max(0, nowMs - sinceMs))}`;
  return result === "equal"
    ? `equal to ${nameOf(pair, "against")} ${forText}: ${comparison.own.text} ${at}${streakText(known)}`
    : `differs from ${nameOf(pair, "against")} ${forText}: ${comparison.own.text} here and ${comparison.against.text} there ${at}; ${whoIsWrong(pair, odd)}`;
}

function whoIsWrong({ target, against }: ParityPair, odd: Odd): string {
  const wrong = [target, against].find(({ key }) => odd.has(key));
  if (wrong === undefined) {
    return "nothing shows which of the two is wrong";
  }
  const agreeing = (odd.get(wrong.key) ?? []).length;
  return `${variantName(wrong)} is the odd one out, ${formatCount(agreeing, "other")} agree`;
}

function streakText({ state: { streak } }: KnownPair): string {
  return streak === null
    ? ""
    : `; different at the last ${streak.count === 1 ? "comparison" : `${streak.count} comparisons`}, which is not enough to say so yet`;
}

function whyUnknown(known: KnownPair): string {
  const { doubt, own, against, pair, state } = known;
  if (doubt !== null) {
    return doubt;
  }
  const failed = failureText(own, pair, "target") ?? failureText(against, pair, "against");
  if (failed !== null) {
    return failed;
  }
  if (own === undefined || against === undefined || own.runs.length === 0 || against.runs.length === 0) {
    const missing = (own?.runs.length ?? 0) === 0 ? "target" : "against";
    return `${nameOf(pair, missing)} was not read yet`;
  }
  if (state.streak !== null) {
    return `they were different at ${formatCount(state.streak.count, "comparison")}, and only ${DIFFERENCES} in a row over ${formatDuration(DIFFERENT_AFTER_MS)} are a difference`;
  }
  return unsteadyText(own, pair, "target") ?? unsteadyText(against, pair, "against") ?? NEVER_MET;
}

const NEVER_MET = "both are not known at one height, since the value changes between polls";

function failureText(known: KnownValues | undefined, pair: ParityPair, side: Side): string | null {
  return known?.failure == null ? null : `the query of ${nameOf(pair, side)} failed: ${known.failure}`;
}

function unsteadyText(known: KnownValues, pair: ParityPair, side: Side): string | null {
  if (isContradictory(known)) {
    return `${nameOf(pair, side)} gave two values for one height`;
  }
  return isSteady(known) ? null : `the value of ${nameOf(pair, side)} comes and goes between polls`;
}

type Side = "target" | "against";

function nameOf(pair: ParityPair, side: Side): string {
  const [one, other] = [pair[side], pair[side === "target" ? "against" : "target"]];
  return one.tier === other.tier ? one.variant : variantName(one);
}
