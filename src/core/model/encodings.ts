import { CUT_MARK } from "./text.ts";

/** A decoded text. `from` and `to`: where the original of one of its UTF-16 units begins and ends. */
export interface Layer {
  readonly text: string;
  readonly from: (at: number) => number;
  readonly to: (at: number) => number;
}

/** A key in a URL in an HTML page in JSON would need three decodings. That was never seen. */
const MAX_DECODINGS = 2;

/** One encoded character, or the beginning of one before a cut: for a URL (in UTF-8), for HTML, for JSON. */
const ENCODINGS = [
  `%[0-9a-f]?(?=${CUT_MARK})|%[0-7][0-9a-f]|%[c-f][0-9a-f](?:%[89ab][0-9a-f]){1,3}`,
  `&[#a-z\\d]{0,8}(?=${CUT_MARK})|&#\\d{1,7};|&#x[0-9a-f]{1,6};|&[a-z]{2,6};`,
  String.raw`\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?(?=${CUT_MARK})|\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[^ux])`,
].map((pattern) => new RegExp(pattern, "gi"));

const HTML_NAMES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" },
  ...{ plus: "+", sol: "/", equals: "=", colon: ":", num: "#", percnt: "%", nbsp: " " },
};

/** The text as it is; decoded in each way that changes it; and each of these decoded once more. */
export function layersOf(text: string): readonly Layer[] {
  let latest: readonly Layer[] = [{ text, from: (at) => at, to: (at) => at + 1 }];
  const all = [...latest];
  for (let count = 0; count < MAX_DECODINGS; count += 1) {
    latest = latest.flatMap((layer) => ENCODINGS.flatMap((encoding) => decode(layer, encoding) ?? []));
    all.push(...latest);
  }
  return all;
}

/** Decodes a text; null if it contains nothing in this encoding. */
function decode(layer: Layer, encoding: RegExp): Layer | null {
  const { text } = layer;
  const parts: string[] = [];
  const from: number[] = [];
  const to: number[] = [];
  let doneTo = 0;
  const add = (part: string, start: number, end: number, isWhole: boolean): void => {
    parts.push(part);
    for (let at = 0; at < part.length; at += 1) {
      from.push(layer.from(isWhole ? start : start + at));
      to.push(layer.to(isWhole ? end - 1 : start + at));
    }
  };
  for (const { 0: encoded, index } of text.matchAll(encoding)) {
    const character = characterOf(encoded);
    if (character !== null) {
      add(text.slice(doneTo, index), doneTo, index, false);
      add(character, index, index + encoded.length, true);
      doneTo = index + encoded.length;
    }
  }
  if (doneTo === 0) {
    return null;
  }
  add(text.slice(doneTo), doneTo, text.length, false);
  return { text: parts.join(""), from: (at) => from[at] ?? 0, to: (at) => to[at] ?? 0 };
}

/** The decoded character; null if it is not a character; empty for the beginning of a character that was cut. */
function characterOf(encoded: string): string | null {
  const [, , hex, decimal, name, escaped] =
    /^(?:(%|\\x|\\u|&#x)([\da-f]{2,6})|&#(\d+)|&([a-z]+)|\\(.));?$/is.exec(encoded) ?? [];
  if (/^%..%/.test(encoded)) {
    return decodeUtf8(encoded);
  }
  if (hex !== undefined || decimal !== undefined) {
    const code = Number.parseInt(hex ?? decimal ?? "", hex === undefined ? 10 : 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : null;
  }
  if (name !== undefined) {
    return HTML_NAMES[name.toLowerCase()] ?? null;
  }
  return escaped?.replace(/[bfnrt]/, " ") ?? "";
}

function decodeUtf8(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) {
      return null;
    }
    throw error;
  }
}
