import { describe, expect, it } from "vitest";
import { describeReplica } from "../../../src/views/wording/replica.ts";

describe("describeReplica()", () => {
  it.each([
    { replica: null, said: null },
    { replica: { role: "leader", name: "a:1", leader: "a:1", age_seconds: 0 }, said: "a:1 leads." },
    {
      replica: { role: "standby", name: "b:1", leader: "a:1", age_seconds: 0.42 },
      said: "a:1 leads; b:1 stands by, with a report of 0.4 s ago.",
    },
    {
      replica: { role: "standby", name: "b:1", leader: null, age_seconds: 90 },
      said: "No replica leads; b:1 stands by, with a report of 90 s ago.",
    },
    {
      replica: { role: "standby", name: "b:1", leader: "a:1", age_seconds: null },
      said: "a:1 leads; b:1 has no report of a leader yet.",
    },
    {
      replica: { role: "cut_off", name: "a:1", leader: null, age_seconds: 0 },
      said: "The store is away: a:1 led last, and polls on.",
    },
  ] as const)("says $said", ({ replica, said }) => {
    expect(describeReplica({ replica })).toBe(said);
  });
});
