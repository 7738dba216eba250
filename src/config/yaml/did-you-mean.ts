import { nearMiss } from "../../core/model/near-miss.ts";

/** More than a fleet has chains: a file with as many mistakes as words would take the square of their number. */
const MOST_WORDS = 250;

/** `: did you mean "base"?`, or nothing where no known word is near. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const meant = nearMiss(typed, known.slice(0, MOST_WORDS));
  return meant === null ? "" : `: did you mean "${meant}"?`;
}
