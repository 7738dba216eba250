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

  it("removes a secret in any encoding, even if it is encoded twice", () => {
    const secret = fc.string({ unit: fc.constantFrom(...`aZ9%+/=&<>"' é;\\`), minLength: 8, maxLength: 20 });
    const encoding = fc.constantFrom(...ENCODINGS);
    const encoded = fc.tuple(
      secret.filter((text) => /^[^ +].*[^ +]$/.test(text) && text.replace(/[ +]+/g, " ").length > 7),
      encoding,
      encoding,
    );

    fc.assert(
      fc.property(encoded, ([text, first, second]) => {
        const redact = createRedact(["another", text]);

        expect(redact(`(${second(first(text))})`)).toBe("([secret])");
      }),
      { numRuns: 2_000 },
    );
  });

  it("leaves other texts as they are", () => {
    const redact = createRedact(["swordfish", "a+b&c=d"]);
    const texts = ["", "50% of sword fish & chips", "a\\b %zz &x; \\u12 …", "&#99999999; %ff", "a b"];

    expect(texts.map(redact)).toEqual(texts);
  });

  it("takes a time that is linear in the text, even if the text repeats itself", () => {
    const redact = createRedact(["aaaaaaab".repeat(20), "aaaa-bbbb", "%26%26%26%26"]);
    const length = 200_000;
    const pieces = ["aaaa", "aaaaaaab", "aaa…", "%2", "&amp", "&&&&", "\\u00", "+ ", "%2526"];
    const timeOf = (text: string): number => {
      const before = process.cpuUsage();
      redact(text);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    timeOf("x".repeat(length));
    const usual = timeOf("block 7 ".repeat(length / 8));

    const ratios = pieces.map((piece) => {
      const text = piece.repeat(length / piece.length);
      return { piece, isLinear: timeOf(text) < 40 * Math.max(5, usual) };
    });

    expect(ratios.filter(({ isLinear }) => !isLinear)).toEqual([]);
  });
});

const percentOf = (unit: string): string => `%${unit.charCodeAt(0).toString(16)}`;
const ENCODINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(text).toLowerCase(),
  (text) => new URLSearchParams({ x: text }).toString().slice(2),
  (text) => text.replace(/[^a-z0-9é]/gi, percentOf),
  (text) => text.replace(/[&<>"']/g, (unit) => `&#${unit.charCodeAt(0)};`),
  (text) => text.replace(/[^a-z0-9]/gi, (unit) => `&#x${unit.charCodeAt(0).toString(16)};`),
  (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => text.replace(/[^a-z0-9]/gi, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
];

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
  it("replaces what looks like a key, and nothing else", () => {
    expect(maskKeys('Cannot use key "k5f0c1d9a7b3e4f6a8c2d" of arbitrum-sepolia')).toBe(
      'Cannot use key "[secret]" of arbitrum-sepolia',
    );
  });
});
