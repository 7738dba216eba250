import type { ParityResult } from "./pair-state.ts";

/** Two targets by their keys, and the verdict on them. */
export interface JudgedPair {
  readonly target: string;
  readonly against: string;
  readonly result: ParityResult;
}

/**
 * The targets that differ from a larger number of targets with equal data, each with those targets. Of two that differ,
 * either may be wrong.
 */
export function oddOnesOut(pairs: readonly JudgedPair[]): ReadonlyMap<string, readonly string[]> {
  const groups = equalGroups(pairs);
  const largest = Math.max(0, ...groups.map(({ length }) => length));
  const leading = groups.filter(({ length }) => length === largest);
  const [majority] = leading;
  if (majority === undefined || largest < 2 || leading.length > 1) {
    return new Map();
  }
  const others = groups.filter((group) => group !== majority).flat();
  return new Map(
    others
      .filter((key) => pairs.some((pair) => isDifference(pair, key, majority)))
      .map((key) => [key, majority] as const),
  );
}

function isDifference(
  { target, against, result }: JudgedPair,
  key: string,
  others: readonly string[],
): boolean {
  const other = target === key ? against : target;
  return result === "different" && (target === key || against === key) && others.includes(other);
}

/** The targets in groups, within which each is equal to some other. */
function equalGroups(pairs: readonly JudgedPair[]): readonly (readonly string[])[] {
  const keys = [...new Set(pairs.flatMap(({ target, against }) => [against, target]))];
  return pairs
    .filter(({ result }) => result === "equal")
    .reduce<readonly (readonly string[])[]>(
      (groups, { target, against }) => {
        const joined = groups.filter((group) => group.includes(target) || group.includes(against));
        return [...groups.filter((group) => !joined.includes(group)), joined.flat()];
      },
      keys.map((key) => [key]),
    );
}
