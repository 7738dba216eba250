import { expect, it } from "vitest";
import { HOURLY, lived, type SharedLife, type Step } from "../support/shared-budget-life.ts";
import { expectTold, verbIn } from "../support/tell.ts";

type Kind = "cut off" | "reconnect" | "crash" | "stop" | "take over";

const MINUTE_MS = 60_000;

it("SharedBudgets permits and counts the requests of test/fixtures/shared-budgets.txt", async () => {
  await expectTold("test/fixtures/shared-budgets.txt", () => {
    let life: SharedLife | null = null;
    return {
      async do(line) {
        life ??= await lived([]);
        const step = stepOf(line);
        await life.live(step);
        const sent = life.sent.get(HOURLY.name)?.length ?? 0;
        const most = life.mostInAWindow(HOURLY);
        expect(most).toBeLessThanOrEqual(HOURLY.limit);
        return [`${sent} sent; the first counts ${life.usedBy(0)}, the second ${life.usedBy(1)}`];
      },
    };
  });
});

function stepOf(line: string): Step {
  const [subject, verb, times] = line.split(" ");
  const who = subject === "first" ? 0 : 1;
  if (subject === "wait") {
    return { kind: "wait", ms: Number(verb) * MINUTE_MS };
  }
  if (verb === "polls") {
    const use = line.endsWith("for people") ? "opportunistic" : "scheduled";
    return { kind: "poll", who, endpoint: 0, use, times: Number(times), crash: "none", loses: "nothing" };
  }
  const kinds = {
    cut: "cut off",
    reconnect: "reconnect",
    crash: "crash",
    stop: "stop",
    take: "take over",
  } as const;
  return { kind: verbIn<Kind>(kinds, verb ?? ""), who };
}
