import type { ChainSummary } from "../../core/model/report.ts";
import { formatDuration, formatNumber } from "../../core/model/text.ts";
import type { Tone } from "../wording/targets.ts";
import { type Html, html } from "./html.ts";

export type Standing = ChainSummary["standings"][number];

/** A source in the picture. */
export interface DrawnSource extends Pick<Standing, "block_number" | "most_block"> {
  readonly name: string;
  readonly words: string;
  readonly tone: Tone;
  /** Whether the source can be right. The head lies where the bounds of all such sources overlap. */
  readonly counts: boolean;
}

/** Blocks farther from the head are drawn at the edge. Most bounds end within twenty minutes of the head. */
const SHOWN_SECONDS = 1_800;
/** The picture extends at least this far, so that the head is not at its edge. */
const LEAST_SECONDS = 90;
const ROW = { height: 30, text: 12, bar: 17, thickness: 7 };
const AXIS = 24;

/**
 * Draws how the head of a chain was decided: for each source a bar from its block to the highest head that is possible if the
 * source is right, then the overlap of the bars that count, and the reference. The axis is in seconds, at the pace of the chain.
 * CSS classes give the colours. Null without a pace or a block.
 */
export function drawDecision(
  chain: Pick<ChainSummary, "block_interval_seconds" | "block_time_seconds" | "reference">,
  sources: readonly DrawnSource[],
): { readonly shapes: Html; readonly height: number } | null {
  const interval = chain.block_interval_seconds ?? chain.block_time_seconds;
  const shown = sources.flatMap(({ block_number: block, ...source }) =>
    block === null ? [] : { ...source, block },
  );
  const counting = shown.filter(({ counts }) => counts);
  const origin = chain.reference?.block_number ?? Math.max(...shown.map(({ block }) => block));
  if (interval === null || shown.length === 0) {
    return null;
  }
  const secondsTo = (block: number | null): number =>
    block === null ? Number.POSITIVE_INFINITY : (block - origin) * interval;
  const ends = shown.flatMap(({ block, most_block: most }) => [secondsTo(block), secondsTo(most)]);
  const near = ends.filter((seconds) => Math.abs(seconds) <= SHOWN_SECONDS);
  // Both sides are wide enough that the labels of the axis do not overlap.
  const to = Math.max(LEAST_SECONDS, ...near, ...near.map((seconds) => -seconds / 3)) * 1.05;
  const from = Math.min(-to / 3, ...near) * 1.05;
  /** In percent of the width, to a tenth. */
  const at = (seconds: number): number =>
    Math.round((1_000 * (Math.min(to, Math.max(from, seconds)) - from)) / (to - from)) / 10;
  const widthOf = (start: number, end: number): string => Math.max(0.5, end - start).toFixed(1);
  const height = AXIS + ROW.height * shown.length;
  const overlap = {
    from: at(Math.max(...counting.map(({ block }) => secondsTo(block)))),
    to: at(
      Math.min(...counting.map(({ most_block: most }) => secondsTo(most)).filter((seconds) => seconds >= 0)),
    ),
  };
  const isShaded = chain.reference !== null && counting.length > 1 && overlap.to > overlap.from;
  const rows = shown.map(({ block, most_block: most, name, tone, words }, index) => {
    const y = AXIS + ROW.height * index;
    const seconds = secondsTo(block);
    const start = at(seconds);
    const edge = seconds < from ? "◀ " : "";
    const beyond = seconds > to ? " ▶" : "";
    return html`<text x="0" y="${y + ROW.text}">${edge}${name}: <tspan class="dim">${words}</tspan>${beyond}</text>
<rect class="bar ${tone}" x="${Math.min(start, 99.4)}%" y="${y + ROW.bar}" width="${widthOf(start, at(secondsTo(most)))}%" height="${ROW.thickness}"/>`;
  });
  const shapes = html`${isShaded ? html`<rect class="overlap" x="${overlap.from}%" y="${AXIS - 6}" width="${widthOf(overlap.from, overlap.to)}%" height="${height - AXIS + 6}"/>` : null}
${chain.reference === null ? null : html`<rect class="reference" x="${at(0)}%" y="${AXIS - 6}" width="2" height="${height - AXIS + 6}"/>`}
<text class="dim" x="0" y="12">−${formatDuration(-from * 1_000)}</text>
<text class="dim" x="${at(0)}%" y="12" text-anchor="${at(0) < 50 ? "start" : "end"}">${chain.reference === null ? "highest block" : formatNumber(origin)}</text>
<text class="dim" x="100%" y="12" text-anchor="end">+${formatDuration(to * 1_000)}</text>
${rows}`;
  return { shapes, height };
}
