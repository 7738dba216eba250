import * as whole from "undici";
import { describe, expect, it } from "vitest";
import { Agent, errors } from "../../../src/io/http-client/undici.ts";

describe("Agent, errors", () => {
  it("are those of undici's main file", () => {
    expect(Agent).toBe(whole.Agent);
    expect(errors.HTTPParserError).toBe(whole.errors.HTTPParserError);
  });
});
