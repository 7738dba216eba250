import { createRandom } from "../../src/sim/model/random.ts";
import type { World } from "./play-world.ts";
import { randomWorld } from "./random-worlds.ts";

const MINUTE_MS = 60_000;
const TICK_MS = 15_000;

/** A world with an honest majority in which the daemon restarts twice: with its state file, and then with it or without. */
export function restartWorld(index: number): World {
  const world = randomWorld(index);
  const random = createRandom(`restart world/${index}`);
  const at = (fromMin: number, toMin: number): number =>
    TICK_MS * Math.floor(((fromMin + random() * (toMin - fromMin)) * MINUTE_MS) / TICK_MS);
  return {
    ...world,
    restarts: [
      { atMs: at(0.25, 15), state: "kept" },
      { atMs: at(16, 40), state: index % 2 === 0 ? "kept" : "lost" },
    ],
  };
}

/**
 * For twenty minutes those who are honest otherwise all tell the lie of a liar, who has the majority then; the daemon
 * restarts with that state at the moment at which they are honest again.
 */
export function takeoverWorld(index: number): World {
  const world = randomWorld(index);
  const untilMs = 20 * MINUTE_MS;
  const lie = world.sources.flatMap(({ conducts }) =>
    conducts.map(({ conduct }) => conduct).filter(({ kind }) => kind !== "honest"),
  )[0] ?? { kind: "offset", blocks: 1_000_000, timeShiftMs: 0 };
  const honest = world.sources.filter(({ conducts }) =>
    conducts.every(({ conduct }) => conduct.kind === "honest"),
  );
  // One stays honest throughout: it is not to be accused once the others are honest again.
  const joining = new Set(honest.slice(1).map(({ key }) => key));
  return {
    ...world,
    seed: `takeover ${world.seed}`,
    sources: world.sources.map((source) =>
      joining.has(source.key)
        ? {
            ...source,
            conducts: [
              { fromMs: 0, conduct: lie },
              { fromMs: untilMs, conduct: { kind: "honest" } },
            ],
          }
        : source,
    ),
    restarts: [{ atMs: untilMs, state: "kept" }],
    judgedFromMs: untilMs,
  };
}
