import type { Endpoint } from "../core/model/fleet.ts";
import type { Question } from "./dialect.ts";

/** The search for the question of its dialect that an endpoint answers. */
export interface QuestionSearch {
  /** The question with which the next poll begins: the last one with a reply, or the next to try. */
  readonly questionIndex: number;
  /** Whether the endpoint has answered this question. */
  readonly isAnswered: boolean;
  /** How many questions were refused in a row. */
  readonly refused: number;
  /** When all questions had been refused, Unix milliseconds, or null. */
  readonly failedAtMs: number | null;
  /** Whether an RPC node has confirmed its chain. */
  readonly isOfChain: boolean;
}

/** Before the first poll. */
export const NEW_SEARCH: QuestionSearch = {
  questionIndex: 0,
  isAnswered: false,
  refused: 0,
  failedAtMs: null,
  isOfChain: false,
};

/** After a refusal of all questions a poll asks one of them in turn; all of them again only after this time. */
const SEARCH_AGAIN_MS = 3_600_000;

/** The dialects from the current one on; only the current one if all were refused within the last hour. */
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

/** The search after this number of refusals in a row, of a dialect with `count` questions. */
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
    // It wraps around, because an endpoint may have been upgraded.
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

/** The detail for a server that replies in another dialect than the configured one. */
export function otherDialect({ dialect, host }: Pick<Endpoint, "dialect" | "host">, found: string): string {
  if (dialect === "custom" || dialect === "metrics") {
    return `${host} answers, but not as ${dialect} describes it: ${found}`;
  }
  const expected = dialect === "auto" ? "in a dialect that Synclag knows" : `in dialect ${dialect}`;
  return `${host} answers, but not ${expected}: ${found.replace(/\.$/, "")}; synclag probe URL shows what it serves`;
}
