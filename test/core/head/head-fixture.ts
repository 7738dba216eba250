import type { Pace } from "../../../src/core/head/pace.ts";
import type { Scene } from "../../../src/core/head/scene.ts";
import type { Voice } from "../../../src/core/head/voice.ts";

/** An instant to count from: 2026-11-20T00:00:00Z. */
export const NOW = 1_795_132_800_000;

/** A block each two seconds. Two sources then stand level within 30 blocks, and are on the track within 5. */
export const PACE: Pace = { intervalMs: 2_000, measured: true };

/** A source of its own provider that advances, heard just now, without block times. */
export function voice(key: string, block: number, changed: Partial<Voice> = {}): Voice {
  return {
    key,
    provider: key,
    kind: "indexer",
    block,
    atMs: NOW,
    slackMs: 50,
    timestampMs: null,
    dated: null,
    age: "unknown",
    advancedMs: NOW,
    idleMs: 0,
    isBackfilling: false,
    samples: [{ block, timestampSec: null, hash: null, sentAtMs: NOW, receivedAtMs: NOW }],
    pollIntervalMs: 15_000,
    freshUntilMs: NOW + 300_000,
    ...changed,
  };
}

/** The same, with the time of its block. */
export function dated(
  key: string,
  block: number,
  { ageMs = 1_000, ...changed }: Partial<Voice> & { readonly ageMs?: number } = {},
): Voice {
  const timeMs = NOW - ageMs;
  const age = ageMs <= 60_000 ? "fresh" : "old";
  return voice(key, block, { timestampMs: timeMs, dated: { block, timeMs }, age, ...changed });
}

/** The same source, last heard so many seconds ago, when it advanced. */
export function heard(agoSec: number, source: Voice): Voice {
  const atMs = NOW - agoSec * 1_000;
  return { ...source, atMs, advancedMs: atMs };
}

/** What is known of a chain on which these are all the sources; without a track. */
export function sceneOf(voices: readonly Voice[], changed: Partial<Scene> = {}): Scene {
  return {
    pace: PACE,
    stalledAfterMs: 600_000,
    voices,
    unsteady: new Set(),
    newestMs: Math.max(...voices.map(({ atMs }) => atMs)),
    highest: Math.max(...voices.map(({ block }) => block)),
    track: null,
    ...changed,
  };
}
