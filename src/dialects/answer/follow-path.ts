import { describeValue } from "./quote.ts";

/** A value of the answer, and where it stands there. */
export interface Place {
  readonly value: unknown;
  readonly name: string;
}

export type Found =
  | ({ readonly kind: "found" } & Place)
  /** The path leads nowhere. */
  | { readonly kind: "lost"; readonly detail: string };

/** Follows a path: names of fields, and positions in lists from 0. */
export function followPath(from: Place, path: readonly string[]): Found {
  let place = from;
  for (const key of path) {
    if (!hasKey(place.value, key)) {
      return {
        kind: "lost",
        detail: `Cannot follow path "${path.join(".")}": no "${key}" in ${place.name}, which is ${describePlace(place.value)}`,
      };
    }
    place = { value: place.value[key], name: `${place.name}.${key}` };
  }
  return { kind: "found", ...place };
}

function hasKey(value: unknown, key: string): value is Readonly<Record<string, unknown>> {
  // A list has its length as a property of its own, but that is no value of the answer.
  const isPosition = !Array.isArray(value) || /^\d+$/.test(key);
  return typeof value === "object" && value !== null && isPosition && Object.hasOwn(value, key);
}

const MAX_NAMED_KEYS = 10;

/** What stands somewhere: an object by its fields, a list by its length. */
export function describePlace(value: unknown): string {
  if (Array.isArray(value)) {
    return `a list of ${value.length.toString()}`;
  }
  if (typeof value !== "object" || value === null) {
    return describeValue(value);
  }
  const keys = Object.keys(value);
  const named = keys.slice(0, MAX_NAMED_KEYS).map((key) => describeValue(key));
  const more = keys.length > named.length ? ", …" : "";
  return keys.length === 0 ? "an empty object" : `an object with ${named.join(", ")}${more}`;
}
