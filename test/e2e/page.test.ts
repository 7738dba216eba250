import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { findBarriers, startChromium, type Watched, watchPage } from "./support/chromium.ts";
import { runProgram } from "./support/program.ts";
import { type Synclag, startDemo } from "./support/synclag.ts";
import { pictureTerminal } from "./support/terminal-picture.ts";

const OUTPUT = fileURLToPath(new URL("output", import.meta.url));
const IMAGES = fileURLToPath(new URL("../../docs/images", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const SIZES = [
  { name: "a telephone", width: 360, height: 780, colorScheme: "dark" },
  { name: "a desk", width: 1280, height: 800, colorScheme: "light" },
] as const;
const PATHS = [
  "/",
  "/chains/base",
  "/plan",
  "/incidents",
  "/public",
  "/docs/",
  "/docs/api",
  "/docs/statuses",
  "/docs/runbooks/SynclagKeyRejected",
] as const;

/**
 * The tour at four times its speed: a subgraph freezes after 8 s, an indexer slows down after 15, all of it ends after 43 s.
 * It begins again every two and a half minutes, so a slow machine sees later what it has missed.
 */
const WITHIN_A_TOUR = { timeout: 330_000 };
/** The card of the target that freezes. */
const FROZEN = '.card a[href="/chains/base#airdrops-subgraph-production"]';

describe("the pages of the demo in Chromium", () => {
  let demo: Synclag;
  let browser: Browser;
  /** The page is opened once, and never loaded again. */
  let open: Page;
  let watched: Watched;

  beforeAll(async () => {
    await mkdir(OUTPUT, { recursive: true });
    browser = await startChromium();
    demo = await startDemo(["--speed", "4"]);
    open = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    watched = watchPage(open);
    await open.goto(`${demo.url}/`);
    await open.evaluate("globalThis.neverLoadedAgain = true");
  });

  /** Looks at a page of its own, which must neither complain nor ask anybody else. */
  async function visit(
    path: string,
    look: (page: Page) => Promise<void>,
    options: BrowserContextOptions = { viewport: { width: 1280, height: 1000 } },
  ): Promise<void> {
    const page = await browser.newPage(options);
    const own = watchPage(page);
    await page.goto(demo.url + path);
    await look(page);
    expect(own.complaints).toEqual([]);
    expect([...own.origins]).toEqual([demo.url]);
    await page.close();
  }

  it("show a fault without a reload", async () => {
    await waitForSentence(open, /All \d+ targets are ok/);
    await waitForSentence(open, /targets? needs? attention/);
    await open.locator(FROZEN).waitFor(WITHIN_A_TOUR);

    expect(await open.evaluate("globalThis.neverLoadedAgain")).toBe(true);
    expect(await open.title()).toMatch(/^\d+ needs? attention/);
    expect(await open.locator("#live").textContent()).toBe("live");
  });

  it("show one cause of many targets", async () => {
    await open.getByText(/airdrops multichain \(production\): \d+ of 21 targets/).waitFor(WITHIN_A_TOUR);
    await picture(open, "status-page.png");
  });

  it("are accompanied by a terminal table with what a person on call needs", async () => {
    const command = "synclag check --url http://127.0.0.1:9855";
    const { stdout } = await runProgram({
      command: "script",
      args: ["-qec", `stty cols 132; node dist/main.js check --url ${demo.url}`, "/dev/null"],
      cwd: ROOT,
    });

    expect(stdout).toContain("need");
    const output = stdout.replaceAll("\r", "").replaceAll(demo.url, "http://127.0.0.1:9855");
    await pictureTerminal(browser, { command, output, path: join(OUTPUT, "check.png") });
    await publish("check.png");
  });

  it("draw the plots of a chain, and show the replies of its endpoints", async () => {
    await visit("/chains/base#airdrops-subgraph-production", async (page) => {
      await unfold(page, "airdrops");
      await page.locator("#plots-airdrops canvas").first().waitFor();
      await page.locator("#exchanges-airdrops-subgraph-production summary").click();
      const command = await page.locator("#exchanges-airdrops-subgraph-production pre.curl").textContent();

      await page.locator("#plots-airdrops summary").click();
      await page.getByRole("button", { name: "1 h" }).first().click();
      // Waits until the page shows a newer report.
      await page.evaluate("document.querySelector('main h1').dataset.former = 'yes'");
      await page.locator("main h1:not([data-former])").waitFor();

      // They are drawn one after the other. While Studio reports false heights, its gap is unknown, and a plot without a value is left out.
      const count = () => page.locator("#plots-airdrops canvas").count();
      await expect.poll(count, { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
      expect(await page.locator("button[value='1'][aria-pressed=true]").count()).toBeGreaterThan(1);
      expect(new URL(page.url()).searchParams.get("hours")).toBe("1");
      expect(await page.locator("details[open] pre.curl").count()).toBeGreaterThan(0);
      expect(command).toContain('"Authorization: Bearer $THEGRAPH_API_KEY"');
    });
  });

  it("draw a different line for each of many variants, and the first minute alone", async () => {
    const values = [0];
    const timestamps = [Date.parse("2026-11-20T03:00:00Z") / 1_000];
    const targets = ["a", "b", "c", "d", "e", "f"].map((variant) => {
      const heights = { block_number: values, lag_seconds: values, against: null };
      return { variant, tier: "production", ...heights, gap_blocks: values, gap_uncertainty_blocks: values };
    });
    const history = { timestamps, reference_block_number: values, targets };
    const page = await browser.newPage();
    await page.addInitScript(`globalThis.written = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        globalThis.written.push(text);
        fillText.call(this, text, ...where);
      };`);
    await page.route("**/api/v1/history/**", (route) => route.fulfill({ json: history }));
    await page.goto(`${demo.url}/chains/base`);
    await unfold(page, "vaults");
    await page.locator("#plots-vaults canvas").nth(1).waitFor();

    const marks = await page.evaluate(`[...document.querySelectorAll("#plots-vaults .u-legend")].at(-1)
      .querySelectorAll(".u-marker[style]").values().map((mark) => mark.getAttribute("style")).toArray()`);
    expect(marks).toHaveLength(7);
    expect(new Set(marks as string[]).size).toBe(7);
    expect(await page.evaluate("globalThis.written")).toContain("03:00:00");
    await page.close();
  });

  it("draw the range that was chosen last, whichever reply comes last", async () => {
    const page = await browser.newPage();
    const hourly: (() => Promise<void>)[] = [];
    await page.route("**/api/v1/history/airdrops/base?*", async (route) => {
      const hours = Number(new URL(route.request().url()).searchParams.get("hours"));
      const target = { variant: `${hours}-hourly`, tier: "production", block_number: [7], lag_seconds: [0] };
      const gaps = { against: null, gap_blocks: [null], gap_uncertainty_blocks: [null] };
      const json = { timestamps: [0], reference_block_number: [7], targets: [{ ...target, ...gaps }] };
      if (hours === 1) {
        hourly.push(() => route.fulfill({ json }));
      } else {
        await route.fulfill({ json });
      }
    });
    await page.goto(`${demo.url}/chains/base`);
    await unfold(page, "airdrops");
    const legend = page.locator("#plots-airdrops .u-legend").first();
    await legend.getByText("6-hourly").waitFor();

    await page.getByRole("button", { name: "1 h" }).first().click();
    await expect.poll(() => hourly.length).toBe(1);
    await page.getByRole("button", { name: "24 h" }).first().click();
    await legend.getByText("24-hourly").waitFor();
    const late = page.waitForResponse(/airdrops\/base.*hours=1$/);
    await hourly[0]?.();
    await (await late).finished();
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");

    expect(await legend.textContent()).toContain("24-hourly");
    await page.close();
  });

  it("label the plots with whole numbers and round times, and draw single values", async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    const timestamps = Array.from({ length: 240 }, (_, i) => Date.now() / 1_000 - (239 - i) * 90);
    const of = (value: (i: number) => number | null) => timestamps.map((_, i) => value(i));
    const heights: Readonly<Record<number, number>> = { 0: 0, 7: 3_000_000_000 };
    const target = { variant: "a", tier: "production", block_number: of((i) => heights[i % 14] ?? null) };
    const gaps = { against: null, gap_blocks: of(() => null), gap_uncertainty_blocks: of(() => null) };
    const lags = { lag_seconds: of(() => 320) };
    const json = {
      timestamps,
      reference_block_number: of(() => null),
      targets: [{ ...target, ...lags, ...gaps }],
    };
    await page.route("**/api/v1/history/**", (route) => route.fulfill({ json }));
    await page.addInitScript(`globalThis.written = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, ...where) {
        const { width } = this.measureText(text);
        globalThis.written.push([text, this.textAlign === "right" && x - width < 0]);
        fillText.call(this, text, x, ...where);
      };`);
    await page.goto(`${demo.url}/chains/base`);
    await unfold(page, "vaults");
    await page.locator("#plots-vaults canvas").nth(1).waitFor();

    const written = (await page.evaluate("globalThis.written")) as [string, boolean][];
    expect(written.filter(([, isCut]) => isCut)).toEqual([]);
    expect(written.map(([text]) => text)).toEqual(
      expect.arrayContaining(["2 min", "4 min", "2,000,000,000"]),
    );
    const isDrawn = `(() => {
      const canvas = document.querySelectorAll("#plots-vaults canvas")[1];
      const { data } = canvas.getContext("2d").getImageData(100, 0, canvas.width - 150, 60);
      return new Set(new Uint32Array(data.buffer)).size > 3;
    })()`;
    expect(await page.evaluate(isDrawn)).toBe(true);
    await page.close();
  });

  it("show the date of a time that is not today", async () => {
    const page = await browser.newPage();
    const timestamps = [2, 1].map((minutes) => Date.now() / 1_000 - 86_400 - minutes * 60);
    const of = (value: number | null) => timestamps.map(() => value);
    const gaps = { against: null, gap_blocks: of(null), gap_uncertainty_blocks: of(null) };
    const target = { variant: "a", tier: "production", block_number: of(7), lag_seconds: of(3), ...gaps };
    const json = { timestamps, reference_block_number: of(8), targets: [target] };
    await page.route("**/api/v1/history/**", (route) => route.fulfill({ json }));
    await page.goto(`${demo.url}/chains/base`);
    await unfold(page, "vaults");

    const legend = page.locator("#plots-vaults .u-legend").first();
    const yesterday = new Date((timestamps[1] ?? 0) * 1_000).toISOString().slice(0, 19).replace("T", " ");
    await legend.getByText(`${yesterday} UTC`).waitFor();
    await page.close();
  });

  it("show the same part of the past from a link that is hours old", async () => {
    const [from, to] = [3, 2].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString());
    await visit(`/chains/base?hours=1&from=${from}&to=${to}`, async (page) => {
      const ranges = page.getByRole("button", { pressed: true });
      await expect.poll(() => ranges.allTextContents()).toEqual(["6 h"]);
    });
  });

  it("keep the shown part of the past in the address", async () => {
    await visit("/chains/base", async (page) => {
      await unfold(page, "airdrops");
      const plot = page.locator("#plots-airdrops .u-over").first();
      await plot.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      await page.mouse.move(x + width * 0.2, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.7, y + height / 2, { steps: 4 });
      await page.mouse.up();
      await expect.poll(() => new URL(page.url()).searchParams.get("from")).not.toBeNull();
      const shared = page.url();

      await page.goto(shared);
      await unfold(page, "airdrops");
      await plot.waitFor();
      await page.waitForTimeout(500);
      expect(page.url()).toBe(shared);
      await page.getByRole("button", { name: "24 h" }).first().click();
      await expect.poll(() => new URL(page.url()).search).toBe("?hours=24");
    });
  });

  it.each(SIZES)("pass the accessibility rules, and do not scroll sideways, on $name", async (size) => {
    const { width, height, colorScheme } = size;
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const wrong: string[] = [];
    for (const path of PATHS) {
      const page = await context.newPage();
      await page.goto(demo.url + path, { waitUntil: "load" });
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      const widest = await page.evaluate("document.documentElement.scrollWidth");
      wrong.push(...(await findBarriers(page)).map((line) => `${path} ${line}`));
      wrong.push(...(widest === width ? [] : [`${path} is ${String(widest)} px wide`]));
      const name = path === "/" ? "fleet" : path.slice(1).replaceAll("/", "-");
      await page.screenshot({ path: join(OUTPUT, `${name}-${width}-${colorScheme}.png`) });
    }
    await context.close();

    expect(wrong).toEqual([]);
  });

  it("are as wide as the screen, and show each value, with names of 60 letters", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const name = "x".repeat(60);
    await page.route("**/*", async (route) => {
      if (route.request().resourceType() !== "document") {
        return route.continue();
      }
      const response = await route.fetch();
      const names = />(multichain|Base)(?=<)|(?<= to )multichain(?=<.dt)/g;
      return route.fulfill({ response, body: (await response.text()).replaceAll(names, `>${name}`) });
    });
    for (const path of ["/", "/chains/base", "/plan", "/incidents", "/public"]) {
      await page.goto(demo.url + path);
      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 390]);
    }
    await page.goto(demo.url);
    const { width = 0 } = (await page.locator("#fleet th", { hasText: name }).last().boundingBox()) ?? {};
    expect(width).toBeLessThan(200);
    await page.close();
  });

  it("filter while one types, also from another page, and keep the filter in the address", async () => {
    await visit("/", async (page) => {
      const shown = page.getByText(/^Showing \d+ of \d+ targets/);
      await page.getByRole("searchbox").fill("lockup base");
      await shown.waitFor();
      expect(new URL(page.url()).searchParams.get("q")).toBe("lockup base");

      await page.goto(`${demo.url}/chains/base`);
      await page.getByRole("searchbox").fill("lockup base");
      await page.keyboard.press("Enter");
      await shown.waitFor();
      await page.goBack();
      expect(new URL(page.url()).pathname).toBe("/chains/base");
    });
  });

  it("open the testnets if a filter finds nothing else, until the user closes them", async () => {
    await visit("/", async (page) => {
      const found = page.locator("#testnets[open]").getByRole("link", { name: "Base Sepolia" });
      await page.getByRole("searchbox").fill("base-sepolia");
      await found.waitFor();
      await page.locator("#testnets summary").click();
      await page.evaluate("document.querySelector('main h1').dataset.former = 'yes'");
      await page.locator("main h1:not([data-former])").waitFor();

      expect(await found.count()).toBe(0);
    });
  });

  it("keep the scroll position of the budgets during a renewal", async () => {
    await visit("/plan", async (page) => {
      const scrolled = "document.querySelector('#box-budgets').scrollTop";
      await page.evaluate(`${scrolled} = 40`);
      await page.evaluate("document.querySelector('main h1').dataset.former = 'yes'");
      await page.locator("main h1:not([data-former])").waitFor();

      expect(await page.evaluate(scrolled)).toBe(40);
    });
  });

  it("keep the focus in the plots during a renewal", async () => {
    await visit("/chains/base", async (page) => {
      await page.getByRole("button", { name: "1 h" }).first().click();
      await page.evaluate("document.querySelector('main h1').dataset.former = 'yes'");
      await page.locator("main h1:not([data-former])").waitFor();

      expect(await page.evaluate("document.activeElement.textContent")).toBe("1 h");
    });
  });

  it("have a short page of incidents, with one row for each cause, which the filter narrows", async () => {
    const look = async (page: Page) => {
      const rows = page.locator(".rows > li");
      await rows.first().waitFor();
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThan(6_000);
      const names = await rows.locator("b").allTextContents();
      expect(names).toEqual(expect.arrayContaining(["Synclag"]));

      await page.getByRole("searchbox").fill("synclag started");
      await expect.poll(() => rows.count()).toBe(1);
      expect(new URL(page.url()).pathname).toBe("/incidents");
    };
    await visit("/incidents", look, { viewport: { width: 390, height: 844 } });
  });

  it("are not called live after hours in a hidden tab until they are current", async () => {
    const page = await browser.newPage();
    await page.goto(`${demo.url}/chains/base`);
    await page.getByText("live", { exact: true }).waitFor();
    // No request gets a reply.
    await page.route("**/chains/base", () => undefined);

    await page.evaluate(
      "{ const later = Date.now() + 3 * 3_600_000; Date.now = () => later; document.dispatchEvent(new Event('visibilitychange')); }",
    );
    await page.getByText(/^Not current yet; last update \d/).waitFor();
    await page.unroute("**/chains/base");

    await page.getByText("live", { exact: true }).waitFor();
    await page.close();
  });

  it("show the error of Synclag when an open page no longer exists", async () => {
    const page = await browser.newPage();
    await page.goto(`${demo.url}/chains/base`);
    // As if a reload had removed the chain.
    await page.evaluate("history.replaceState(null, '', '/chains/removed')");

    await page.getByText(/Synclag replies 404 Not Found; last update/).waitFor();
    await page.close();
  });

  it("are loaded again when another version of Synclag replies, even if only a script differs", async () => {
    const page = await browser.newPage();
    await page.goto(`${demo.url}/plan`);
    const loadedAgain = page.waitForNavigation();
    await page.route("**/plan", async (route) => {
      const response = await route.fetch();
      const newer = (await response.text()).replace(/page\.\w+\.js/, "page.newer.js");
      await route.fulfill({ response, body: newer });
    });

    await loadedAgain;
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  it("keep the chosen theme, move to the filter with /, and show local times", async () => {
    const there = { timezoneId: "Asia/Tokyo", locale: "en-GB", colorScheme: "light" } as const;
    await visit(
      "/",
      async (page) => {
        const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
        const light = await background();
        const theme = page.getByRole("button", { name: "Theme: auto" });
        await theme.click();
        await page.getByRole("button", { name: "Theme: light" }).click();
        const dark = await background();

        await page.goto(`${demo.url}/docs/statuses`);
        expect([await background(), dark === light]).toEqual([dark, false]);
        await page.keyboard.press("/");
        await page.keyboard.type("base/");
        expect(await page.getByRole("searchbox").inputValue()).toBe("base/");

        await page.goto(`${demo.url}/chains/base`);
        const [time, title] = await Promise.all(
          ["datetime", "title"].map((name) => page.locator("main time").first().getAttribute(name)),
        );
        const hours = (Number(title?.match(/(\d\d):\d\d:\d\d/)?.[1]) + 24 - Number(time?.slice(11, 13))) % 24;
        expect(hours).toBe(9);
      },
      there,
    );
  });

  it("show the end of the fault, still without a reload", async () => {
    await open.locator(FROZEN).waitFor({ ...WITHIN_A_TOUR, state: "hidden" });

    expect(await open.evaluate("globalThis.neverLoadedAgain")).toBe(true);
    expect(watched.complaints).toEqual([]);
    expect([...watched.origins]).toEqual([demo.url]);
  });

  it("show the past fault from beginning to end", async () => {
    const look = async (page: Page) => {
      await unfold(page, "airdrops");
      await page.locator("#plots-airdrops canvas").nth(1).waitFor();
      await page.waitForTimeout(500);
      await picture(page, "chain-page.png");
    };
    await visit("/chains/base", look, { viewport: { width: 1200, height: 1060 } });
  });

  it("report that Synclag has stopped, which it does in order with open pages", async () => {
    const { code } = await demo.stop();

    await open.getByText(/Synclag does not respond; last update/).waitFor({ timeout: 60_000 });
    expect(code).toBe(0);
  });
});

/** Shows the plots of a protocol, which are folded unless it is the worst. */
async function unfold(page: Page, protocol: string): Promise<void> {
  await page.evaluate(`document.querySelector("#part-${protocol}").open = true`);
}

async function waitForSentence(page: Page, wanted: RegExp): Promise<void> {
  await page.locator("h1").filter({ hasText: wanted }).waitFor(WITHIN_A_TOUR);
}

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(OUTPUT, name) });
  await publish(name);
}

/** With PICTURES=docs, the run renews what the documentation shows. */
async function publish(name: string): Promise<void> {
  if (process.env["PICTURES"] === "docs") {
    await copyFile(join(OUTPUT, name), join(IMAGES, name));
  }
}
