import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedact, looksLikeKey, maskKeys } from "../../../src/core/model/redact.ts";

describe("createRedact()", () => {
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

  it("removes exactly what a search for each secret finds, as it is, in JSON, in a URL and in a quoted line", () => {
    const text = fc.string({ unit: fc.constantFrom(...'aab"/ \t'), maxLength: 12 });
    const secretsAndText = fc.array(text, { maxLength: 8 }).chain((secrets) => {
      const part = fc.oneof(text, fc.constantFrom("", ...secrets.flatMap(formsOf)));
      return fc.tuple(
        fc.constant(secrets),
        fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
      );
    });

    fc.assert(
      fc.property(secretsAndText, ([secrets, searched]) => {
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
});

/** The forms of at least four characters that are searched for. */
function formsOf(secret: string): readonly string[] {
  const line = secret.replace(/[ \t]+/g, " ").trim();
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, encodeURIComponent(secret), line].filter((form) => form.length >= 4);
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
  it("tells keys from names", () => {
    const keys = [
      "5961fb30-8fdc-45ad-9a35-555dd5e0dd56",
      "0123456789abcdef0123456789abcdef",
      "4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
      "aB3_dE-fG5hIjKl7MnOp_QrS",
      "sk-proj-5f0c1d9a7b3e",
      "12345678-1234-1234-1234-123456789012",
      "EXFsvixygRDNOIyMkChXEi",
      "lhv1Jr-OiaLnt-gD95xJ_g",
      // The shortest: 12 characters, 8 of mixed letters and digits, 5 digits behind a word, 21 digits, 25 letters.
      "ab12cd34ef56",
      "key-ab12cd34",
      "arbitrum12345",
      "179513280000000000000",
      "arbitrumsepoliatestnetabc",
    ];
    const names = [
      "",
      "airdrops",
      "sablier-lockup-v2-arbitrum-sepolia",
      "THEGRAPH_API_KEY",
      "maxResponseBytes",
      "envio-508d217-production",
      "3.14.15",
      "2026-12-01T10",
      // One character less than a key.
      "ab12cd34ef5",
      "keys-ab12cd3",
      "arbitrumx1234",
      "17951328000000000000",
      "arbitrumsepoliatestnetab",
    ];

    expect([...keys, ...names].filter(looksLikeKey)).toEqual(keys);
  });
});

describe("maskKeys()", () => {
  it("replaces what looks like a key and nothing else", () => {
    expect(maskKeys('Cannot use key "k5f0c1d9a7b3e4f6a8c2d" of arbitrum-sepolia')).toBe(
      'Cannot use key "[secret]" of arbitrum-sepolia',
    );
  });
});
