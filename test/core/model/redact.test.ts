import { describe, expect, it } from "vitest";
import { createRedact } from "../../../src/core/model/redact.ts";

describe("createRedact()", () => {
  it("removes every secret, wherever it stands", () => {
    const redact = createRedact(["0123456789abcdef0123456789abcdef", "hunter22"]);

    const text = redact("GET /api/0123456789abcdef0123456789abcdef with hunter22 and hunter22");

    expect(text).toBe("GET /api/[secret] with [secret] and [secret]");
  });

  it("leaves no rest of a secret that holds another", () => {
    const redact = createRedact(["abcd", "abcdefgh"]);

    expect(redact("key=abcdefgh")).toBe("key=[secret]");
  });

  it("removes the forms that a secret takes in JSON and in a URL", () => {
    const secret = 'pa"ss/word';
    const redact = createRedact([secret]);

    expect(redact(JSON.stringify({ secret }))).toBe('{"secret":"[secret]"}');
    expect(redact(`?key=${encodeURIComponent(secret)}`)).toBe("?key=[secret]");
  });

  it("leaves a text alone when there is no secret", () => {
    expect(createRedact([])("nothing to hide")).toBe("nothing to hide");
  });
});
