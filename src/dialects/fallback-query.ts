import type { Question } from "./dialect.ts";

/** The index of the question to ask after a refusal. It wraps around, because an endpoint may have been upgraded. */
export function nextQuestion(index: number, count: number): number {
  return (index + 1) % count;
}

/** The failure of a poll in which every question was refused; `detail` is the text of the last refusal. */
export function refusedByAll(
  questions: readonly Question[],
  detail: string,
): { readonly reason: "schema"; readonly detail: string } {
  const asked = questions.map(({ body }) => String(body["query"] ?? body["method"])).join(", ");
  return {
    reason: "schema",
    detail: `Cannot find a query that this server accepts: tried ${asked}; last answer: ${detail}`,
  };
}
