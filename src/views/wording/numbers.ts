/** A number with its thousands apart: `1,240`. Fractions keep one digit. */
export function formatNumber(value: number): string {
  const [whole = "", fraction] = String(Math.round(Math.abs(value) * 10) / 10).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = value < 0 ? "-" : "";
  return `${sign}${grouped}${fraction === undefined ? "" : `.${fraction}`}`;
}

/** A number with its noun: `1 block`, `1,240 blocks`. */
export function formatCount(value: number, noun: string): string {
  return `${formatNumber(value)} ${noun}${value === 1 ? "" : "s"}`;
}
