import { nearMiss } from "../core/near-miss.ts";

/** `: did you mean "base"?`, or nothing where no known word is near. */
export function didYouMean(typed: string, known: readonly string[]): string {
  const meant = nearMiss(typed, known);
  return meant === null ? "" : `: did you mean "${meant}"?`;
}
