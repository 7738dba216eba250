import { describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { TRIO } from "./fleets.ts";

describe("a status", () => {
  it("changes after two polls that fail in one way, three that time out, one without budget", () => {
    // A poll that a shutdown cut off is never heard of.
    const reasons = FAILURE_REASONS.filter((reason) => reason !== "aborted");

    const changes = reasons.map((reason) => {
      const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => reason);
      return `${reason}: ${play.changes("multichain", "1m").join()}`;
    });

    expect(changes).toEqual([
      "timeout: 45s unreachable",
      "dns: 30s unreachable",
      "connect: 30s unreachable",
      "tls: 30s unreachable",
      "http_status: 30s unreachable",
      "rate_limited: 30s throttled",
      "unauthorized: 30s rejected",
      "payment_required: 30s rejected",
      "not_found: 30s not_found",
      "no_indexers: 30s unreachable",
      "indexing_error: 30s failed",
      "graphql: 30s unreachable",
      "schema: 30s not_found",
      "malformed: 30s unreachable",
      "too_large: 30s unreachable",
      "implausible: 30s diverged",
      "wrong_chain: 30s rejected",
      "budget: 15s throttled",
    ]);
  });
});
