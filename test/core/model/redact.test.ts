import fc from "fast-check";
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

  it("leaves a text readable where one of the secrets is empty", () => {
    expect(createRedact(["", "hunter22"])("user: hunter22")).toBe("user: [secret]");
  });

  it("finds a secret with spaces as a quoted line shows it", () => {
    expect(createRedact(["pass \t word"])("key=pass word")).toBe("key=[secret]");
  });

  it("leaves no rest of two secrets that overlap", () => {
    expect(createRedact(["abcdef", "defghi"])("key=abcdefghi;")).toBe("key=[secret];");
  });

  it("removes the beginning of a secret that was cut", () => {
    const secret = 'pa"ss/word-5f0c1d9a';
    const redact = createRedact([secret, "word-of-another"]);

    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
      for (let length = 4; length <= form.length; length += 1) {
        expect(redact(`bad key ${form.slice(0, length)}… (refused)`)).toMatch(
          /^bad key \[secret\]…? \(refused\)$/,
        );
      }
    }
    expect(redact("bad key …")).toBe("bad key …");
    expect(redact("a word…")).toBe("a [secret]…");
    expect(redact("a word, and more…")).toBe("a word, and more…");
  });

  it("removes exactly what a search for each secret finds", () => {
    const text = fc.string({ unit: fc.constantFrom(..."aab/ "), maxLength: 40 });

    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), text, (secrets, searched) => {
        const redacted = createRedact(secrets)(searched).replace(/(?:\[secret\])+/g, "[secret]");

        const isHidden = hiddenIn(searched, secrets.flatMap(formsOf));
        const shown = [...searched]
          .map((character, at) => (isHidden[at] === true ? "#" : character))
          .join("");
        expect(redacted).toBe(shown.replace(/#+/g, "[secret]"));
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves a text alone when there is no secret", () => {
    expect(createRedact([])("nothing to hide")).toBe("nothing to hide");
  });
});

/** The forms of at least four characters that are searched for. */
function formsOf(secret: string): readonly string[] {
  const line = secret.replace(/ +/g, " ").trim();
  return [secret, encodeURIComponent(secret), line].filter((form) => form.length >= 4);
}

/** For each character, whether it is part of a secret; secrets that touch are one. */
function hiddenIn(text: string, forms: readonly string[]): readonly boolean[] {
  const hidden = Array.from(text, () => false);
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
      hidden.fill(true, at, at + form.length);
    }
  }
  return hidden;
}

describe("looksLikeKey()", () => {
  it.each([
    "5961fb30-8fdc-45ad-9a35-555dd5e0dd56",
    "0123456789abcdef0123456789abcdef",
    "4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
    "aB3_dE-fG5hIjKl7MnOp_QrS",
    "sk-proj-5f0c1d9a7b3e",
    "12345678-1234-1234-1234-123456789012",
    "12345678901234567890123456789012",
    "EXFsvixygRDNOIyMkChXEi",
    "cCLuiDQvnzVcRhPERdJcoA",
    "lhv1Jr-OiaLnt-gD95xJ_g",
  ])("is true for %s", (word) => {
    expect(looksLikeKey(word)).toBe(true);
  });

  it.each([
    "",
    "airdrops",
    "sablier-lockup-v2-arbitrum-sepolia",
    "arbitrum2024",
    "THEGRAPH_API_KEY",
    "maxResponseBytes",
    "envio-508d217-production",
    "3.14.15",
    "20261122",
    "508d217",
    "2026-12-01T10",
  ])("is false for '%s'", (word) => {
    expect(looksLikeKey(word)).toBe(false);
  });
});

describe("looksLikeKey() by length", () => {
  it.each([
    { case: "12 characters that mix letters and digits", word: "ab12cd34ef56", expected: true },
    { case: "only 11 of them", word: "ab12cd34ef5", expected: false },
    { case: "a part of 8 characters that mixes them", word: "key-ab12cd34", expected: true },
    { case: "only parts of 7 and fewer", word: "keys-ab12cd3", expected: false },
    { case: "a word with a number of 5 digits", word: "arbitrum12345", expected: true },
    { case: "a word with a number of 4 digits", word: "arbitrumx1234", expected: false },
    { case: "a time in milliseconds, which has no letters", word: "1795132800000", expected: false },
    { case: "a number of 16 digits", word: "1795132800000000", expected: true },
    { case: "a word of 24 letters", word: "arbitrumsepoliatestnetab", expected: false },
    { case: "a word of 25 letters", word: "arbitrumsepoliatestnetabc", expected: true },
  ])("is $expected for $case", ({ word, expected }) => {
    expect(looksLikeKey(word)).toBe(expected);
  });
});

describe("maskKeys()", () => {
  it("replaces what looks like a key and nothing else", () => {
    expect(maskKeys('Cannot use key "k5f0c1d9a7b3e4f6a8c2d" of arbitrum-sepolia')).toBe(
      'Cannot use key "[secret]" of arbitrum-sepolia',
    );
  });
});
