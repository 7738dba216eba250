import { expect, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { behind, dated, type Script, ScriptedFleet } from "../support/scripted-fleet.ts";
import { TRIO } from "./statuses/fleets.ts";

// Plays the examples of docs/how-it-decides.md, and draws their pictures from what was said in them.

const BLOCK_SEC = 2;
const EVERY_SEC = 15;
const MINUTES = 40;
/** What is shown of the distance to the head. */
const SHOWN_SEC = { behind: 18 * 60, ahead: 3 * 60 };

const EXAMPLES: Readonly<Record<string, readonly [says: string, scripts: Readonly<Record<string, Script>>]>> =
  {
    "one-behind": [
      "One falls behind: a lower height contradicts nobody",
      { mirror: behind((15 * 60) / BLOCK_SEC) },
    ],
    "two-late": [
      "Two of three are six minutes late, by their own block times",
      { subgraph: dated((6 * 60) / BLOCK_SEC), mirror: dated((6 * 60) / BLOCK_SEC), multichain: dated() },
    ],
    "one-ahead": [
      "One claims a block 400,000 above the head: it is out of the picture",
      { mirror: behind(-400_000) },
    ],
  };

/** How many seconds behind the true head something is at a minute (negative: ahead of it). */
type Point = readonly [minute: number, behindSec: number | null];

it.each(Object.entries(EXAMPLES))("decides as docs/how-it-decides.md says: %s", (file, [says, scripts]) => {
  const play = new ScriptedFleet(TRIO);
  // Who has block times has them from the start on; the others are at the head for ten minutes.
  const beginsSec = file === "two-late" ? 0 : 10 * 60 + EVERY_SEC;
  const reference: Point[] = [];
  const targets = new Map<string, Point[]>();
  for (let second = 0; second <= MINUTES * 60; second += EVERY_SEC) {
    for (const [name, script] of second === beginsSec ? Object.entries(scripts) : []) {
      play.script(name, script);
    }
    play.run(`${EVERY_SEC}s`);
    const pointOf = (block: number | null | undefined): Point => [
      second / 60,
      block == null ? null : (play.head() - block) * BLOCK_SEC,
    ];
    reference.push(pointOf(play.chain().reference?.block_number));
    for (const { block_number, variant } of play.report().targets) {
      targets.set(variant, [...(targets.get(variant) ?? []), pointOf(block_number)]);
    }
  }
  const labels = play.report().targets.map(({ status, variant }) => `${variant}: ${status}`);

  expect(play.chain().reference?.block_number).toBe(play.head());
  expectGolden(
    `docs/images/how-it-decides-${file}.svg`,
    draw(says, reference, [...targets.values()], labels),
  );
});

const SIZE = { width: 720, height: 200, left: 70, right: 150, top: 34, bottom: 28 };
const COLOURS = ["#2563eb", "#b45309", "#7c3aed"];

function draw(
  title: string,
  reference: readonly Point[],
  targets: readonly (readonly Point[])[],
  labels: readonly string[],
): string {
  const ends: number[] = [];
  const lines = targets.map((points, index) => {
    const y = yOf(points.at(-1)?.[1] ?? null) ?? SIZE.top + 4;
    // Labels of lines that end at one place stand below each other.
    const below = 14 * ends.filter((other) => Math.abs(other - y) < 12).length;
    ends.push(y);
    const colour = COLOURS[index] ?? "#000";
    return `${pathOf(points, `fill="none" stroke="${colour}" stroke-width="2"`)}
<text x="${SIZE.width - SIZE.right + 8}" y="${y + 4 + below}" fill="${colour}">${labels[index]}</text>`;
  });
  const ticks = [0, 300, 600, 900].map(
    (sec) =>
      `<text x="${SIZE.left - 8}" y="${(yOf(sec) ?? 0) + 4}" text-anchor="end" fill="#6b7280">${sec === 0 ? "head" : `−${sec / 60} min`}</text>
<path d="M${SIZE.left} ${yOf(sec)}H${SIZE.width - SIZE.right}" stroke="#d1d5db"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="system-ui, sans-serif" font-size="12" role="img">
<title>${title}</title>
<rect width="${SIZE.width}" height="${SIZE.height}" fill="#fff"/>
<text x="${SIZE.left}" y="18" fill="#111827" font-weight="600">${title}</text>
${ticks.join("\n")}
${pathOf(reference, `fill="none" stroke="#9ca3af" stroke-width="7" stroke-opacity="0.5"`)}
${lines.join("\n")}
<text x="${SIZE.left}" y="${SIZE.height - 8}" fill="#6b7280">${MINUTES} minutes; the wide grey line is the reference</text>
</svg>
`;
}

function pathOf(points: readonly Point[], style: string): string {
  let path = "";
  let isDrawing = false;
  for (const [minute, behindSec] of points) {
    const y = yOf(behindSec);
    if (y !== null) {
      path += `${isDrawing ? "L" : "M"}${xOf(minute)} ${y}`;
    }
    isDrawing = y !== null;
  }
  return `<path d="${path}" ${style}/>`;
}

function xOf(minute: number): number {
  return round(SIZE.left + (minute / MINUTES) * (SIZE.width - SIZE.left - SIZE.right));
}

function yOf(behindSec: number | null): number | null {
  if (behindSec === null) {
    return null;
  }
  const { ahead, behind: most } = SHOWN_SEC;
  const share = (Math.max(-ahead, Math.min(most, behindSec)) + ahead) / (ahead + most);
  return round(SIZE.top + share * (SIZE.height - SIZE.top - SIZE.bottom));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
