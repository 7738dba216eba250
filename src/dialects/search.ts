import type { Endpoint } from "../core/model/fleet.ts";
import type { Question } from "./dialect.ts";

/** How far the search has come: which question of its dialect does an endpoint answer? */
export interface QuestionSearch {
  /** The question with which the next poll begins: the last answered one, or the next to try. */
  readonly questionIndex: number;
  /** Whether the endpoint has answered this question. */
  readonly isAnswered: boolean;
  /** How many questions were refused in a row. */
  readonly refused: number;
  /** When all questions were refused in a row, in Unix milliseconds, or null. */
  readonly failedAtMs: number | null;
  /** Whether an RPC node no longer needs to be asked for its chain id; always false for an indexer. */
  readonly isOfChain: boolean;
}

export const NEW_SEARCH: QuestionSearch = {
  questionIndex: 0,
  isAnswered: false,
  refused: 0,
  failedAtMs: null,
  isOfChain: false,
};

/** If all questions were refused, each poll asks only the next one until this time has passed. Then all are asked again. */
const SEARCH_AGAIN_MS = 3_600_000;

/** The questions in turn, from the current one on; only the current one if all were refused within the last hour. */
export function questionsToAsk(
  questions: readonly Question[],
  search: QuestionSearch,
  nowMs: number,
): readonly Question[] {
  const { questionIndex } = search;
  const inTurn = [...questions.slice(questionIndex), ...questions.slice(0, questionIndex)];
  return hasFailedLately(search, nowMs) ? inTurn.slice(0, 1) : inTurn;
}

function hasFailedLately({ failedAtMs }: QuestionSearch, nowMs: number): boolean {
  return failedAtMs !== null && Math.abs(nowMs - failedAtMs) < SEARCH_AGAIN_MS;
}

/** The search after a poll in which `refused` of the `count` questions of a dialect were refused. */
export function afterRefusals(
  search: QuestionSearch,
  refused: number,
  count: number,
  nowMs: number,
): QuestionSearch {
  const inARow = Math.min(search.refused + refused, count);
  const isFailure = refused > 0 && inARow === count && !hasFailedLately(search, nowMs);
  return {
    ...search,
    // The index wraps around, because an upgraded endpoint may now answer an earlier question.
    questionIndex: (search.questionIndex + refused) % count,
    isAnswered: search.isAnswered && refused === 0,
    refused: inARow,
    failedAtMs: isFailure ? nowMs : search.failedAtMs,
  };
}

/** The search after a question was answered. */
export function afterAnswer({ questionIndex, isOfChain }: QuestionSearch): QuestionSearch {
  return { questionIndex, isAnswered: true, refused: 0, failedAtMs: null, isOfChain };
}

/** The detail for a server that does not reply in the configured dialect. */
export function otherDialect({ dialect, host }: Pick<Endpoint, "dialect" | "host">, found: string): string {
  if (dialect === "custom" || dialect === "metrics") {
    return `the reply of ${host} does not fit the ${dialect} block in chains.yaml: ${found}`;
  }
  const expected = dialect === "auto" ? "any dialect that Synclag detects" : `dialect ${dialect}`;
  return `the reply of ${host} does not fit ${expected}: ${found.replace(/\.$/, "")}; synclag probe URL shows what it serves`;
}
