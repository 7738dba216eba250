import type { Column } from "../../core/history/ring.ts";
import { formatDuration, isoTime } from "../../core/model/text.ts";
import { type Html, html } from "./html.ts";
import { renderClock } from "./shell.ts";

const WIDTH = 240;
const HEIGHT = 36;

/** The lag of the last hours as a small line; null while fewer than two lags are known. */
export function renderSparkline(
  timesMs: readonly number[],
  lagMs: Column,
  { nowMs, laggingMs }: { readonly nowMs: number; readonly laggingMs: number },
): Html | null {
  const points = lagMs.flatMap((lag, index) => {
    const timeMs = timesMs[index];
    return lag === null || timeMs === undefined ? [] : [{ index, timeMs, lag }];
  });
  const [first] = points;
  if (first === undefined || points.length < 2) {
    return null;
  }
  const worst = points.reduce((most, point) => (point.lag > most.lag ? point : most));
  const span = `in the last ${formatDuration(nowMs - first.timeMs)}`;
  const most =
    worst.lag === 0
      ? "always at the head"
      : html`at most ${formatDuration(worst.lag)} behind, at ${renderClock(isoTime(worst.timeMs), nowMs)}`;
  const scale: Scale = {
    fromMs: first.timeMs,
    widthMs: Math.max(1, nowMs - first.timeMs),
    // So that a lag of a few seconds looks flat.
    most: Math.max(worst.lag, laggingMs / 4),
  };
  const limit = laggingMs <= scale.most ? y(laggingMs, scale) : null;
  const line = limit === null ? null : html`<path class="limit" d="M0 ${limit}H${WIDTH}"/>`;
  return html`<figure class="spark">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${line}<path d="${pathOf(points, scale)}"/></svg>
<figcaption>${most} <small>${span}</small></figcaption></figure>`;
}

interface Point {
  readonly index: number;
  readonly timeMs: number;
  readonly lag: number;
}

interface Scale {
  readonly fromMs: number;
  readonly widthMs: number;
  readonly most: number;
}

/** A line with gaps where the lag is unknown. */
function pathOf(points: readonly Point[], scale: Scale): string {
  let previous = Number.NEGATIVE_INFINITY;
  return points
    .map(({ index, timeMs, lag }) => {
      const command = index === previous + 1 ? "L" : "M";
      previous = index;
      return `${command}${rounded(((timeMs - scale.fromMs) / scale.widthMs) * WIDTH)} ${y(lag, scale)}`;
    })
    .join("");
}

function y(lagMs: number, { most }: Scale): number {
  return rounded(HEIGHT - 1 - (lagMs / most) * (HEIGHT - 3));
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
