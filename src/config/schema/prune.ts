import { type Path, pathKey } from "../yaml/config-error.ts";

/** Data without its invalid parts, so that the rest can still be checked. */
export interface Pruned {
  readonly value: unknown;
  /** Paths, in the original data, of the removed list items. */
  readonly removedItems: readonly Path[];
}

/** The value at a path, or undefined. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => childOf(inner, step), value);
}

/** Removes the values at the paths; where there is none, the map or list that should have contained it. */
export function prune({ value, removedItems }: Pruned, paths: readonly Path[]): Pruned {
  const targets = paths.map((path) => (valueAt(value, path) === undefined ? path.slice(0, -1) : path));
  const distinct = new Map(targets.map((target) => [pathKey(target), target]));
  const items = [...distinct.values()].filter((target) => typeof target.at(-1) === "number");
  return {
    value: without(value, [], new Set(distinct.keys())),
    removedItems: [...removedItems, ...items.map((item) => originalPath(item, removedItems))],
  };
}

/** The path in the original data of a path in the pruned data, where list items have moved up. */
export function originalPath(path: Path, removedItems: readonly Path[]): Path {
  const original: (string | number)[] = [];
  for (const step of path) {
    const removed = removedItems
      .filter((item) => isChildOf(item, original))
      .map((item) => Number(item.at(-1)));
    original.push(typeof step === "number" ? originalIndex(step, removed) : step);
  }
  return original;
}

function originalIndex(index: number, removed: readonly number[]): number {
  return removed
    .toSorted((a, b) => a - b)
    .reduce((shifted, item) => (item <= shifted ? shifted + 1 : shifted), index);
}

function isChildOf(path: Path, parent: Path): boolean {
  return path.length === parent.length + 1 && parent.every((step, index) => step === path[index]);
}

function childOf(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) {
    return typeof step === "number" ? value[step] : undefined;
  }
  return isMap(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function without(value: unknown, path: Path, removed: ReadonlySet<string>): unknown {
  const keep = <Step extends string | number>([step, item]: [Step, unknown]): [Step, unknown][] => {
    const inner = [...path, step];
    return removed.has(pathKey(inner)) ? [] : [[step, without(item, inner, removed)]];
  };
  if (Array.isArray(value)) {
    return [...value.entries()].flatMap(keep).map(([, item]) => item);
  }
  return isMap(value) ? Object.fromEntries(Object.entries(value).flatMap(keep)) : value;
}

/** Whether a value is a map, not a list. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
