import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { findBarriers, startChromium } from "./support/chromium.ts";
import { type SituationName, serveSituation } from "./support/situations.ts";

const OUTPUT = fileURLToPath(new URL("output", import.meta.url));

/** What the first screen says: what is wrong, on which chain, since when, how far behind it is, and where its users can go. */
const ANSWERS: Readonly<Record<SituationName, readonly RegExp[]>> = {
  "all ok": [/All 140 targets are ok, at most 3\.2 s behind/],
  "one fault": [
    /1 of 140 targets needs attention: lockup\/base\/subgraph, lagging/,
    /since 03:30:00 UTC, 40 min/,
    /41 min behind/,
    /For users: multichain is ok/,
  ],
  "two faults": [
    /3 of 140 targets need attention; worst: airdrops\/polygon\/multichain, stalled/,
    /since 03:50:0\d UTC, 20 min/,
    /30 min behind; only subgraph \(testing\) is ok/,
    /lockup\/base\/subgraph/,
    /41 min \(1,231 blocks\) behind/,
    /For users: multichain is ok/,
  ],
  "shared cause": [
    /46 of 140 targets need attention, all because of host gateway\.thegraph\.com/,
    /46 of 46 targets are unreachable/,
    /since 03:31:0\d UTC, 19 min/,
    /For users: multichain is ok on 17 of 23 chains, not on 6/,
  ],
  dispute: [
    /Sources of Base contradict each other/,
    /30,000,000 blocks apart, with equal weight on each side; an RPC node \(rpc\) or one more variant would decide it/,
    /Base: its sources do not agree on a head ?since 03:00:\d\d UTC, 20 min/,
    /For users: the lag of multichain and subgraph is unknown, and no variant is preferred/,
  ],
  "no network": [
    /Nothing can be reached: every host fails at once, so our own network is the likely cause/,
    /last height 10 min ago/,
    /since 03:20:\d\d UTC, 10 min/,
    /For users: the effect is unknown; the indexers may still serve them/,
  ],
  "first minute": [
    /All 140 targets are ok, at most 3\.2 s behind/,
    /As of 03:00:20 UTC; last height \d\.\d s ago/,
  ],
  "1,000 targets": [
    /1 of 1,000 targets needs attention: lockup\/chain-7\/one, stalled/,
    /since 03:22:\d\d UTC, 10 min/,
    /19 min behind/,
    /585 blocks behind the reference/,
    /For users: two, three and four are ok/,
  ],
  "long names": [
    /1 of 6 targets needs attention: a-name-of-sixty-letters-x+\/chain-1\/a-name-of-sixty-letters-x+, stalled/,
    /since 03:22:\d\d UTC, 30 min/,
    /39 min behind/,
    /1,185 blocks behind the reference/,
    /For users: subgraph is ok/,
  ],
};
const SCREENS = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;
/** `PICTURES=look` pictures these, too: each page is looked at before a change of its markup lands. */
const LOOK = process.env["PICTURES"] === "look";
const WIDTHS = [390, 768, 1280, 1600, 2560];
const PATHS = ["/", "/incidents", "/public", "/plan"];
/** The documents are the same in each situation. */
const DOCUMENTS = ["/docs/", "/docs/statuses", "/docs/api", "/docs/runbooks/SynclagKeyRejected", "/no-page"];

let browser: Browser;

beforeAll(async () => {
  await mkdir(OUTPUT, { recursive: true });
  browser = await startChromium();
});

describe.each(Object.keys(ANSWERS) as SituationName[])("in the situation %s", (name) => {
  let url: string;

  beforeAll(async () => {
    url = await serveSituation(name);
  });

  it("the first screen says what, where, since when, how bad, and where users can go", async () => {
    for (const viewport of SCREENS) {
      const page = await browser.newPage({ viewport });
      await page.goto(url);
      const text = await firstScreen(page);
      for (const answer of ANSWERS[name]) {
        expect(text).toMatch(answer);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(viewport.width);
      expect(await findBarriers(page)).toEqual([]);
      await page.close();
    }
    await picture(url, name);
  });

  it("no word of a page is broken or overlaps another, and each axis is above its bar", async () => {
    for (const width of [390, 768]) {
      const page = await browser.newPage({ viewport: { width, height: 844 } });
      for (const path of await pagesOf(page, url, name)) {
        await page.goto(url + path);
        const flaws = await page.evaluate(FLAWS);
        expect([path, width, flaws]).toEqual([path, width, []]);
        expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, width]);
      }
      await page.close();
    }
  });
});

it.each([true, false])("a link unfolds its target, with script: %s", async (javaScriptEnabled) => {
  const page = await browser.newPage({ javaScriptEnabled });
  await page.goto(`${await serveSituation("first minute")}/chains/base#lockup-subgraph-production`);

  await page.locator("#lockup-subgraph-production").waitFor();
  expect(await page.locator("#lockup-multichain-production").isVisible()).toBe(false);
  await page.close();
});

it("the page of an ok chain and the incidents of a shared cause are short on a telephone", async () => {
  const heightOf = async (name: SituationName, path: string) => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto((await serveSituation(name)) + path);
    const height: unknown = await page.evaluate("document.documentElement.scrollHeight");
    await page.close();
    return Number(height) / 844;
  };

  expect(await heightOf("all ok", "/chains/base")).toBeLessThan(3);
  expect(await heightOf("shared cause", "/incidents")).toBeLessThan(3);
});

/** The pages of a situation, with that of the chain that is worst. */
async function pagesOf(page: Page, url: string, name: SituationName): Promise<readonly string[]> {
  await page.goto(url);
  const worst = await page.locator("#fleet tbody th a").first().getAttribute("href");
  return [...PATHS, worst ?? "", ...(name === "all ok" ? DOCUMENTS : [])];
}

/** Words that are broken or on another, and axes that are not above what they measure. */
const FLAWS = `(() => {
  const boxOf = (one) => one.getBoundingClientRect();
  const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const broken = seen(".pill").filter((one) => one.getClientRects().length > 1 || boxOf(one).height > 30);
  const labels = seen(".decision svg > text[y='12']").map(boxOf);
  const touching = labels.filter(({ left }, i) => labels.some(({ right, left: start }, j) => j !== i && start <= left && right > left));
  const axes = seen(".axis").filter((axis) => {
    const [own, bar] = [axis.firstElementChild, axis.nextElementSibling.querySelector("svg")].map(boxOf);
    return Math.abs(own.left - bar.left) > 2 || Math.abs(own.right - bar.right) > 2;
  });
  const ticks = seen(".axis time").map((one) => one.textContent + one.parentElement.textContent.split(one.textContent).length);
  return [
    ...broken.map((one) => "broken: " + one.textContent),
    ...touching.map(({ left }) => "labels touch at " + left),
    ...axes.map(() => "an axis is not above its bar"),
    ...ticks.filter((tick) => !tick.endsWith("2")).map((tick) => "a tick comes twice: " + tick),
    ...(document.body.textContent.includes("<!--") ? ["a comment is shown"] : []),
  ];
})()`;

/** The text that is visible without scrolling. */
async function firstScreen(page: Page): Promise<string> {
  const text: unknown = await page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = [];
    while (walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const { bottom, height } = range.getBoundingClientRect();
      // Folded text also has a height.
      if (height > 0 && bottom <= innerHeight && walker.currentNode.parentElement.checkVisibility()) {
        seen.push(walker.currentNode.data);
      }
    }
    return seen.join("").replace(/\\s+/g, " ");
  })()`);
  return String(text);
}

async function picture(url: string, name: SituationName): Promise<void> {
  for (const colorScheme of LOOK ? (["light", "dark"] as const) : []) {
    for (const width of WIDTHS) {
      const page = await browser.newPage({
        viewport: { width, height: width < 500 ? 844 : 800 },
        colorScheme,
      });
      for (const path of await pagesOf(page, url, name)) {
        await page.goto(url + path);
        const file = [name.replaceAll(/\W+/g, "-"), path.replaceAll("/", "-"), width, colorScheme].join("_");
        await page.screenshot({ path: join(OUTPUT, `${file}.png`), fullPage: true });
      }
      await page.close();
    }
  }
}
