import { describe, expect, it } from "vitest";
import { EndpointStates } from "../../../src/daemon/polling/endpoint-state.ts";
import { NEW_SEARCH } from "../../../src/dialects/search.ts";
import { endpointOf, fleetOf } from "../../budgets/fleet-builder.ts";

describe("EndpointStates", () => {
  it("has a new revision whenever it would save other questions, and only then", () => {
    const states = new EndpointStates(fleetOf([endpointOf({})]));
    const [state] = states.all();
    const saved = [0, 0, 2, 2, 1].map((questionIndex) => {
      if (state !== undefined) {
        states.noteSearch(state, { ...NEW_SEARCH, questionIndex });
      }
      return { revision: states.questionsRevision, questions: Object.values(states.saveQuestions()) };
    });

    expect(saved.map(({ questions }) => questions)).toEqual([[0], [0], [2], [2], [1]]);
    const changed = saved.map(({ revision }, index) => revision !== saved[index - 1]?.revision);
    expect(changed).toEqual([true, false, true, false, true]);
  });
});
