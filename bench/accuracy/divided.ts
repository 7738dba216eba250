import type { Played, World } from "./worlds.ts";

/** What is said at the end of a world in which at least half of the providers lie. */
export interface Divided {
  readonly reference: "right" | "none" | "wrong";
  /** An honest source is called `diverged`. */
  readonly isAccused: boolean;
  /** The same, though those who are left are of fewer providers than the honest ones: nobody could show it. */
  readonly isUnshown: boolean;
}

/** Heights are up to two ticks old. */
const RIGHT_MS = 30_000;

export function dividedOf(world: World, { diverged, offBlocks }: Played): Divided {
  const honest = world.sources.filter(({ conducts }) =>
    conducts.every(({ conduct }) => conduct.kind === "honest"),
  );
  const left = world.sources.filter(({ key }) => !diverged.includes(key));
  const isAccused = honest.some(({ key }) => diverged.includes(key));
  return {
    reference: referenceOf(world, offBlocks),
    isAccused,
    isUnshown: isAccused && providersOf(left) < providersOf(honest),
  };
}

function referenceOf({ blockTimeMs }: World, offBlocks: number | null): Divided["reference"] {
  if (offBlocks === null) {
    return "none";
  }
  return offBlocks <= 2 + RIGHT_MS / blockTimeMs ? "right" : "wrong";
}

function providersOf(sources: World["sources"]): number {
  return new Set(sources.map(({ provider }) => provider)).size;
}
