import type { ParityValue } from "../../core/model/parity.ts";

/** Bounds what is kept of a value; the largest number of a contract has 78 digits. */
export const MAX_VALUE_CHARACTERS = 256;

/** As JSON writes it, without an exponent. `007` and `1e5` are texts: they may be names. */
const DECIMAL = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?$/;
const WITH_EXPONENT = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/;
/** A number of double precision has at most this many places. */
const MAX_EXPONENT = 400;

/** Strings, which are skipped, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The text of a JSON value as it is compared; null for an object, for a list, and for what is too long to be kept. */
export function parityValueOf(value: unknown): ParityValue | null {
  if (typeof value === "object" && value !== null) {
    return null;
  }
  const text = typeof value === "string" || typeof value === "number" ? String(value) : null;
  const number = text === null ? null : canonicalNumber(text);
  const parity =
    number === null ? { text: JSON.stringify(value), isNumber: false } : { text: number, isNumber: true };
  return parity.text.length > MAX_VALUE_CHARACTERS ? null : parity;
}

/** The same JSON with every number as a string of its digits, because `JSON.parse` rounds what a double cannot hold. */
export function withExactNumbers(json: string): string {
  return json.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${withoutExponent(token)}"`));
}

/** `12.50` and `12.5` as `12.5`, `-0.0` as `0`; null for what is no decimal number. */
function canonicalNumber(text: string): string | null {
  const [, sign, whole, places = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) {
    return null;
  }
  const fraction = withoutLastZeros(places);
  const digits = fraction === "" ? whole : `${whole}.${fraction}`;
  return digits === "0" ? "0" : `${sign}${digits}`;
}

/** `1.5e3` as `1500`; an exponent beyond those of double precision stays. */
function withoutExponent(token: string): string {
  const [, sign = "", whole = "", places = "", power] = WITH_EXPONENT.exec(token) ?? [];
  const exponent = Number(power);
  if (power === undefined || Math.abs(exponent) > MAX_EXPONENT) {
    return token;
  }
  const digits = `${"0".repeat(Math.max(0, -exponent))}${whole}${places}${"0".repeat(Math.max(0, exponent))}`;
  const point = Math.max(0, -exponent) + whole.length + exponent;
  const before = digits.slice(0, point).replace(/^0+(?=\d)/, "");
  const after = withoutLastZeros(digits.slice(point));
  return `${sign}${before}${after === "" ? "" : `.${after}`}`;
}

/** Not by a pattern: `/0+$/` takes quadratic time on zeros that are not the last digits. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") {
    end -= 1;
  }
  return digits.slice(0, end);
}
