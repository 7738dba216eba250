import { describe, expect, it } from "vitest";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import { Story } from "../../support/story.ts";

describe("a status", () => {
  it("changes after two polls that fail in one way, three that time out, one without budget", () => {
    // A poll that a shutdown cut off is never heard of.
    const reasons = FAILURE_REASONS.filter((reason) => reason !== "aborted");

    const changes = reasons.map((reason) => {
      const story = new Story();
      const [said = ""] = ["run 10m", `multichain ${reason}`, "run 1m"]
        .flatMap((line) => story.do(line))
        .slice(3);
      return `${reason}: ${said.split(":")[0]}`;
    });

    expect(changes).toEqual([
      "timeout: after 45 s multichain unreachable",
      "dns: after 30 s multichain unreachable",
      "connect: after 30 s multichain unreachable",
      "tls: after 30 s multichain unreachable",
      "http_status: after 30 s multichain unreachable",
      "rate_limited: after 30 s multichain throttled",
      "unauthorized: after 30 s multichain rejected",
      "payment_required: after 30 s multichain rejected",
      "not_found: after 30 s multichain not_found",
      "no_indexers: after 30 s multichain unreachable",
      "indexing_error: after 30 s multichain failed",
      "graphql: after 30 s multichain unreachable",
      "schema: after 30 s multichain not_found",
      "malformed: after 30 s multichain unreachable",
      "too_large: after 30 s multichain unreachable",
      "implausible: after 30 s multichain diverged",
      "wrong_chain: after 30 s multichain rejected",
      "budget: after 15 s multichain throttled",
    ]);
  });
});
