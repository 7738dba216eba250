import { parseJson } from "../core/model/text.ts";
import { readBody } from "../dialects/interpret-reply.ts";
import { readPositiveInteger } from "../dialects/values.ts";

/** A page that no dialect knows, with possible heights: paths of JSON, or names of gauges. */
export interface UnknownPage {
  readonly dialect: "custom" | "metrics";
  readonly heights: readonly string[];
}

const MAX_HEIGHTS = 5;
const MAX_DEPTH = 6;
const LIKE_A_HEIGHT = /block|height|head|slot/i;

/** The kind of a page; null if it is neither metrics nor JSON with a possible height. */
export function recognisePage(body: string): UnknownPage | null {
  const json = parseJson(body);
  if (typeof json === "object" && json !== null) {
    const heights = heightsIn(json, [], MAX_DEPTH).slice(0, MAX_HEIGHTS);
    return heights.length === 0 ? null : { dialect: "custom", heights };
  }
  if (json !== undefined || readBody(body, "metrics").found.value === undefined) {
    return null;
  }
  const names = body.split("\n").flatMap((line) => /^[a-z_:][\w:]*/i.exec(line)?.[0] ?? []);
  const gauges = [...new Set(names)].filter((name) => LIKE_A_HEIGHT.test(name));
  return { dialect: "metrics", heights: gauges.slice(0, MAX_HEIGHTS) };
}

/** Paths to numbers that are named like a height. In a list, only the first item is searched. */
function heightsIn(value: unknown, path: readonly string[], depth: number): readonly string[] {
  if (typeof value !== "object" || value === null) {
    const isHeight = LIKE_A_HEIGHT.test(path.join(".")) && readPositiveInteger(value) !== null;
    return isHeight ? [path.join(".")] : [];
  }
  const keys = Object.entries(value).filter(([key]) => /^[\w-]{1,64}$/.test(key));
  const looked = depth === 0 ? [] : keys.slice(0, Array.isArray(value) ? 1 : MAX_KEYS);
  return looked.flatMap(([key, part]) => heightsIn(part, [...path, key], depth - 1));
}

/** Limits the work that a hostile page can cause. */
const MAX_KEYS = 10;

/** How to read the page in chains.yaml. */
export function adviseOn({ dialect, heights }: UnknownPage): string {
  const [first = "NAME", ...others] = heights;
  const block =
    dialect === "custom" ? `custom: { method: GET, height: ${first} }` : `metrics: { height: ${first} }`;
  const more = others.length === 0 ? "" : `; the height may also be ${others.join(", ")}`;
  const what = dialect === "custom" ? "JSON" : "metrics";
  return `The URL serves ${what} that no built-in dialect reads: use dialect ${dialect} with ${block} (docs/dialects.md)${more}`;
}
