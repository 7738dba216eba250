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

interface Example {
  readonly file: string;
  readonly says: string;
  /** From the tenth minute on; the others stay at the head. */
  readonly scripts: Readonly<Record<string, Script>>;
  /** At the end. */
  readonly statuses: Readonly<Record<string, string>>;
}

const EXAMPLES: readonly Example[] = [
  {
    file: "one-behind",
    says: "One falls behind: a lower height contradicts nobody",
    scripts: { mirror: behind((15 * 60) / BLOCK_SEC) },
    statuses: { multichain: "ok", subgraph: "ok", mirror: "lagging" },
  },
  {
    file: "two-late",
    says: "Two of three are six minutes late, by their own block times",
    scripts: {
      subgraph: dated((6 * 60) / BLOCK_SEC),
      mirror: dated((6 * 60) / BLOCK_SEC),
      multichain: dated(),
    },
    statuses: { multichain: "ok", subgraph: "ok", mirror: "ok" },
  },
  {
    file: "one-ahead",
    says: "One claims a block 400,000 above the head: it is out of the picture",
    scripts: { mirror: behind(-400_000) },
    statuses: { multichain: "ok", subgraph: "ok", mirror: "diverged" },
  },
];

it.each(EXAMPLES)("decides as docs/how-it-decides.md says: $says", ({ file, says, scripts, statuses }) => {
  const play = new ScriptedFleet(TRIO);
  const moments: Moment[] = [];
  const isDatedAtOnce = file === "two-late";
  for (const [name, script] of isDatedAtOnce ? Object.entries(scripts) : []) {
    play.script(name, script);
  }
  for (let second = 0; second <= MINUTES * 60; second += EVERY_SEC) {
    play.run(`${EVERY_SEC}s`);
    if (second === 10 * 60 && !isDatedAtOnce) {
      for (const [name, script] of Object.entries(scripts)) {
        play.script(name, script);
      }
    }
    moments.push(momentOf(play, second));
  }

  const ended = Object.fromEntries(play.report().targets.map(({ status, variant }) => [variant, status]));
  expect(ended).toEqual(statuses);
  expect(play.chain().reference?.block_number).toBe(play.head());
  expectGolden(`docs/images/how-it-decides-${file}.svg`, draw(says, moments));
});

/** Where everything stood at one moment, in seconds behind the true head (negative: ahead of it). */
interface Moment {
  readonly minute: number;
  readonly reference: number | null;
  readonly targets: readonly {
    readonly name: string;
    readonly status: string;
    readonly behindSec: number | null;
  }[];
}

function momentOf(play: ScriptedFleet, second: number): Moment {
  const head = play.head();
  const behindOf = (block: number | null | undefined) => (block == null ? null : (head - block) * BLOCK_SEC);
  return {
    minute: second / 60,
    reference: behindOf(play.chain().reference?.block_number),
    targets: play.report().targets.map((target) => ({
      name: target.variant,
      status: target.status,
      behindSec: behindOf(target.block_number),
    })),
  };
}

const SIZE = { width: 720, height: 200, left: 70, right: 150, top: 34, bottom: 28 };
const COLOURS = ["#2563eb", "#b45309", "#7c3aed"];

function draw(title: string, moments: readonly Moment[]): string {
  const last = moments.at(-1);
  const lines = (last?.targets ?? []).map(({ name, status, behindSec }, index) => {
    const points = moments.map(({ minute, targets }) => [minute, targets[index]?.behindSec ?? null] as const);
    const y = yOf(behindSec) ?? SIZE.top + 4;
    const colour = COLOURS[index] ?? "#000";
    return `${pathOf(points, `fill="none" stroke="${colour}" stroke-width="2"`)}
<text x="${SIZE.width - SIZE.right + 8}" y="${y + 4 + labelShift(index, last)}" fill="${colour}">${name}: ${status}</text>`;
  });
  const reference = moments.map(({ minute, reference: behindSec }) => [minute, behindSec] as const);
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

/** Labels of lines that end at one place stand below each other. */
function labelShift(index: number, last: Moment | undefined): number {
  const own = yOf(last?.targets[index]?.behindSec ?? null);
  const before = (last?.targets ?? []).slice(0, index).filter(({ behindSec }) => {
    const y = yOf(behindSec);
    return y === null ? own === null : own !== null && Math.abs(y - own) < 12;
  });
  return before.length * 14;
}

function pathOf(
  points: readonly (readonly [minute: number, behindSec: number | null])[],
  style: string,
): string {
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
