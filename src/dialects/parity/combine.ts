import type { CustomQuery, Target } from "../../core/model/fleet.ts";
import type { CarriedProbe, CarriedSelection } from "../../core/model/parity.ts";
import type { Question } from "../dialect.ts";

/** A selection under the alias that it has in one request. */
export interface AliasedSelection extends CarriedSelection {
  readonly probe: string;
  readonly alias: string;
}

/** The question for the heights with selections beside it. The answer is read like that of the question alone. */
export interface CombinedQuestion {
  readonly question: Question;
  readonly selections: readonly AliasedSelection[];
}

/** The beginning of an operation that takes more selections behind its first brace: one without variables. */
const OPERATION = /^\s*(?:query(?:\s+\w+)?\s*)?\{\s*/;

/** Why requests of a dialect cannot carry selections beside the height; null if they can. */
export function whyNotCarried(asked: {
  readonly dialect: string;
  readonly custom?: CustomQuery | undefined;
}): string | null {
  if (asked.dialect === "graph-status") {
    return "dialect graph-status asks the index-node API, which has no data";
  }
  return asked.custom === undefined || OPERATION.test(asked.custom.query)
    ? null
    : "its custom query must begin with { or with query NAME {";
}

/**
 * Puts the selections of probes into the query for the heights, one alias for each. `_meta` keeps its name: for a failed
 * subgraph graph-node answers under that key only.
 */
export function combineQuestion(
  question: Question,
  probes: readonly CarriedProbe[],
  targets: readonly Pick<Target, "key" | "chainId">[],
): CombinedQuestion {
  const chainIds = new Map(targets.map(({ key, chainId }) => [key, chainId]));
  const selections = probes.flatMap((probe, index) =>
    probe.selections.map((selection) => ({
      ...selection,
      probe: probe.probe,
      alias: `p${index}_${chainIds.get(selection.target) ?? 0}`,
    })),
  );
  const aliased = selections.map(({ alias, select }) => `${alias}: ${select}`).join(" ");
  const query = String(question.body["query"]).replace(
    OPERATION,
    (opening) => `${opening.trimEnd()} ${aliased} `,
  );
  return { question: { ...question, body: { ...question.body, query } }, selections };
}
