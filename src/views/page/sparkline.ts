import type { Column } from "../../core/history/history.ts";
import { formatDuration, isoTime } from "../../core/model/text.ts";
import { type Html, html } from "./html.ts";
import { renderClock } from "./shell.ts";

const WIDTH = 240;
const HEIGHT = 36;

/** The lag of the last hours as a small line, with gaps where it is unknown; null while fewer than two lags are known. */
export function renderSparkline(
  timesMs: readonly number[],
  lagMs: Column,
  laggingMs: number,
  nowMs: number,
): Html | null {
  const points = timesMs.flatMap((timeMs, index) => {
    const lag = lagMs[index] ?? null;
    const command = (lagMs[index - 1] ?? null) === null ? "M" : "L";
    return lag === null ? [] : [{ timeMs, lag, command }];
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
  // A lag of a few seconds is drawn flat.
  const scaleMs = Math.max(worst.lag, laggingMs / 4);
  const spanMs = Math.max(1, nowMs - first.timeMs);
  const x = (timeMs: number) => rounded(((timeMs - first.timeMs) / spanMs) * WIDTH);
  const y = (lag: number) => rounded(HEIGHT - 1 - (lag / scaleMs) * (HEIGHT - 3));
  const path = points.map(({ timeMs, lag, command }) => `${command}${x(timeMs)} ${y(lag)}`).join("");
  const limit = laggingMs > scaleMs ? null : html`<path class="limit" d="M0 ${y(laggingMs)}H${WIDTH}"/>`;
  return html`<figure class="spark">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${limit}<path d="${path}"/></svg>
<figcaption>${most} <small>${span}</small></figcaption></figure>`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
