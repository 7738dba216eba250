import { expect, it } from "vitest";
import { drawnSources } from "../../src/views/page/chain.ts";
import { drawDecision } from "../../src/views/page/decision.ts";
import { renderHtml } from "../../src/views/page/html.ts";
import { expectGolden } from "../support/golden.ts";
import { behind, dated, type Script, ScriptedFleet } from "../support/scripted-fleet.ts";
import { TRIO } from "./statuses/fleets.ts";

// Plays the examples of docs/how-it-decides.md, and draws their pictures as the page of a chain does.

const BLOCK_SEC = 2;

const EXAMPLES: Readonly<Record<string, Readonly<Record<string, Script>>>> = {
  "one-behind": { mirror: behind((15 * 60) / BLOCK_SEC) },
  "two-late": {
    subgraph: dated((6 * 60) / BLOCK_SEC),
    mirror: dated((6 * 60) / BLOCK_SEC),
    multichain: dated(),
  },
  "one-ahead": { mirror: behind(-400_000) },
};

it.each(Object.entries(EXAMPLES))("decides as docs/how-it-decides.md says: %s", (file, scripts) => {
  const play = new ScriptedFleet(TRIO);
  // Sources that report block times do so from the start on; the others are at the head for ten minutes.
  play.run(file === "two-late" ? "0s" : "10m");
  for (const [name, script] of Object.entries(scripts)) {
    play.script(name, script);
  }
  play.run("30m");

  const chain = play.chain();
  const picture = drawDecision(chain, drawnSources(chain.standings, chain));

  expect(chain.reference?.block_number).toBe(play.head());
  expectGolden(`docs/images/how-it-decides-${file}.svg`, svgOf(picture, file.replace("-", " ")));
});

/** A picture that stands alone, with the colours of the page. */
function svgOf(picture: ReturnType<typeof drawDecision>, title: string): string {
  if (picture === null) {
    throw new Error("Cannot draw a chain without a pace");
  }
  const { height, shapes } = picture;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="${height + 16}" font-family="system-ui, sans-serif" font-size="12">
<title>The bounds of three sources, ${title}</title>
<style>text{fill:#1c1d1b}.dim{fill:#5d615b}.overlap{fill:#dbe8fb}.reference{fill:#0b57a4}.ok{fill:#2e9a5c}.warn{fill:#d99000}.bad{fill:#b4231d}</style>
<rect width="720" height="${height + 16}" fill="#fff"/>
<svg x="10" y="8" width="700" height="${height}"><title>The bounds</title>${renderHtml(shapes)}</svg>
</svg>
`;
}
