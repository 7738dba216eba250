import { describe, expect, it } from "vitest";
import { createRedact, looksLikeKey, maskKeys } from "../../../src/core/model/redact.ts";

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

describe("looksLikeKey()", () => {
  it.each([
    "5961fb30-8fdc-45ad-9a35-555dd5e0dd56",
    "0123456789abcdef0123456789abcdef",
    "4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
    "aB3_dE-fG5hIjKl7MnOp_QrS",
    "sk-proj-5f0c1d9a7b3e",
  ])("is true for %s", (word) => {
    expect(looksLikeKey(word)).toBe(true);
  });

  it.each([
    "",
    "airdrops",
    "sablier-lockup-v2-arbitrum-sepolia",
    "arbitrum2024",
    "3.14.15",
    "20261122",
    "508d217",
    "2026-12-01T10",
  ])("is false for '%s'", (word) => {
    expect(looksLikeKey(word)).toBe(false);
  });
});

describe("maskKeys()", () => {
  it("replaces what looks like a key and nothing else", () => {
    expect(maskKeys('Cannot use key "k5f0c1d9a7b3e4f6a8c2d" of arbitrum-sepolia')).toBe(
      'Cannot use key "[secret]" of arbitrum-sepolia',
    );
  });
});
