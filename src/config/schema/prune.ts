import type { Path } from "../yaml/config-error.ts";

/** Data without the parts that are wrong, so that the rest can be judged as well. */
export interface Pruned {
  readonly value: unknown;
  /** Paths, in the original data, of the list items that are gone. */
  readonly goneItems: readonly Path[];
}

/** The value at a path, or undefined. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => childOf(inner, step), value);
}

/** Takes away what stands at the paths; where nothing does, what should have held it. */
export function prune({ value, goneItems }: Pruned, paths: readonly Path[]): Pruned {
  const targets = paths.map((path) => (valueAt(value, path) === undefined ? path.slice(0, -1) : path));
  const distinct = new Map(targets.map((target) => [identity(target), target]));
  const items = [...distinct.values()].filter((target) => typeof target.at(-1) === "number");
  return {
    value: rest(value, [], new Set(distinct.keys())),
    goneItems: [...goneItems, ...items.map((item) => originalPath(item, goneItems))],
  };
}

/** Where a path into pruned data led in the original: list items have moved up. */
export function originalPath(path: Path, goneItems: readonly Path[]): Path {
  const original: (string | number)[] = [];
  for (const step of path) {
    const gone = goneItems.filter((item) => isChildOf(item, original)).map((item) => Number(item.at(-1)));
    original.push(typeof step === "number" ? originalIndex(step, gone) : step);
  }
  return original;
}

function originalIndex(index: number, gone: readonly number[]): number {
  return gone.toSorted((a, b) => a - b).reduce((moved, item) => (item <= moved ? moved + 1 : moved), index);
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

function rest(value: unknown, path: Path, gone: ReadonlySet<string>): unknown {
  const keep = <Step extends string | number>([step, item]: [Step, unknown]): [Step, unknown][] => {
    const inner = [...path, step];
    return gone.has(identity(inner)) ? [] : [[step, rest(item, inner, gone)]];
  };
  if (Array.isArray(value)) {
    return [...value.entries()].flatMap(keep).map(([, item]) => item);
  }
  return isMap(value) ? Object.fromEntries(Object.entries(value).flatMap(keep)) : value;
}

function identity(path: Path): string {
  return JSON.stringify(path);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
