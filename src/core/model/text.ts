/** `1,240`: grouped by thousands, whole. */
export function countText(count: number): string {
  const digits = Math.round(count).toString();
  return digits.length <= 3 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 block`, `1,240 blocks`. */
export function blocksText(blocks: number): string {
  return `${countText(blocks)} ${Math.round(blocks) === 1 ? "block" : "blocks"}`;
}

/** `45 s`, `41 min`, `5 h`, `3 days`: what a tired person can take in. */
export function durationText(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 120) {
    return `${countText(seconds)} s`;
  }
  if (seconds < 7_200) {
    return `${countText(seconds / 60)} min`;
  }
  return seconds < 172_800 ? `${countText(seconds / 3_600)} h` : `${countText(seconds / 86_400)} days`;
}

/** `1 source`, `3 sources`. */
export function sourcesText(count: number): string {
  return count === 1 ? "1 source" : `${countText(count)} sources`;
}
