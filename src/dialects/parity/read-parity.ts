import type { PollTimes } from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import { describePlace, followPath, type Place } from "../answer/follow-path.ts";
import type { Outcome } from "../answer/outcome.ts";
import { quote } from "../answer/quote.ts";
import { readAnswer } from "../answer/read-answer.ts";
import type { AliasedSelection } from "./combine.ts";
import { MAX_VALUE_CHARACTERS, parityValueOf, withExactNumbers } from "./parity-value.ts";

/** An answer to a combined question that had the heights. */
export interface CombinedAnswer {
  /** JSON. */
  readonly body: string;
  /** What it said of each target. */
  readonly outcomes: readonly Outcome[];
  readonly times: PollTimes;
}

/** What the answer says of each selection. One whose target has no height in this answer is left out. */
export function readParity(
  selections: readonly AliasedSelection[],
  { body, outcomes, times }: CombinedAnswer,
): readonly ParityReading[] {
  const { data, errors } = readAnswer(withExactNumbers(body));
  const blocks = new Map(
    outcomes.flatMap((outcome) =>
      outcome.kind === "head" ? [[outcome.source, outcome.head.block] as const] : [],
    ),
  );
  return selections.flatMap((selection): readonly ParityReading[] => {
    const { probe, target } = selection;
    const block = blocks.get(target);
    const { sentAtMs, receivedAtMs } = times;
    return block === undefined
      ? []
      : [{ probe, target, sentAtMs, receivedAtMs, ...readValue(selection, { data, errors, block }) }];
  });
}

type Content<Reading> = Reading extends unknown ? Omit<Reading, keyof PollTimes | "probe" | "target"> : never;

function readValue(
  { alias, value: path }: AliasedSelection,
  {
    data,
    errors,
    block,
  }: { readonly data: unknown; readonly errors: readonly string[]; readonly block: number },
): Content<ParityReading> {
  const [field = "", ...rest] = path;
  const root = followPath({ value: data, name: "data" }, [alias]);
  const found = root.kind === "lost" ? root : follow({ value: root.value, name: `data.${field}` }, rest);
  const [error] = errors;
  if (error !== undefined && (found.kind === "lost" || found.value === null)) {
    // GraphQL answers null where a resolver has failed.
    return { kind: "failed", detail: quote(error) };
  }
  if (found.kind === "lost") {
    return { kind: "failed", detail: quote(found.detail) };
  }
  const value = parityValueOf(found.value);
  return value === null
    ? { kind: "failed", detail: quote(notComparable(found)) }
    : { kind: "value", block, value };
}

/** Like `followPath`, but what is missing in a list that is too short, or below null, is null: there is no such row. */
function follow(from: Place, path: readonly string[]): ReturnType<typeof followPath> {
  const found = followPath(from, path);
  if (found.kind === "found") {
    return found;
  }
  const absentAt = path.findIndex((key, index) => {
    const before = followPath(from, path.slice(0, index));
    return before.kind === "found" && isAbsent(before.value, key);
  });
  return absentAt < 0 ? found : { kind: "found", value: null, name: from.name };
}

function isAbsent(value: unknown, key: string): boolean {
  return value === null || (Array.isArray(value) && /^\d+$/.test(key) && Number(key) >= value.length);
}

function notComparable({ value, name }: Place): string {
  return typeof value === "object"
    ? `Cannot compare ${name}: expected one value, found ${describePlace(value)}`
    : `Cannot compare ${name}: it has more than ${MAX_VALUE_CHARACTERS} characters`;
}
