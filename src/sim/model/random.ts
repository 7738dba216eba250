/**
 * Stateless randomness: the same seed and part always give the same number, so a model can be read at any instant and
 * in any order.
 */
export function unitAt(seed: string, part: string | number): number {
  return hash32(`${seed}/${part}`) / 2 ** 32;
}

/** A sequence of numbers in [0, 1) from a seed (Mulberry32, public domain), for events that happen once per request. */
export function createRandom(seed: string): () => number {
  let state = hash32(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A text of `digits` hexadecimal digits that depends only on the seed. */
export function hexAt(seed: string, digits: number): string {
  const words = Array.from({ length: Math.ceil(digits / 8) }, (_, index) =>
    hash32(`${seed}/${index}`).toString(16).padStart(8, "0"),
  );
  return words.join("").slice(0, digits);
}

/** FNV-1a, then the final mix of MurmurHash3, so that texts which differ in one character have unrelated hashes. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
