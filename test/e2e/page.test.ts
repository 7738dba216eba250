import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "./support/program.ts";
import { type Synclag, startDemo } from "./support/synclag.ts";
import { undoAll, undoLater } from "./support/undo.ts";

const OUTPUT = fileURLToPath(new URL("output", import.meta.url));

describe("the status page of the demo in Chromium", () => {
  let demo: Synclag;
  let browser: Browser;

  beforeAll(async () => {
    await runProgram({ command: "chromium", args: ["--version"] }); // Says what to install when it is missing.
    demo = await startDemo([]);
    browser = await chromium.launch({ executablePath: onPath("chromium"), args: ["--no-sandbox"] });
    undoLater(() => browser.close());
  });

  afterAll(undoAll);

  describe.each([
    { name: "a telephone", width: 390, height: 844 },
    { name: "a desk", width: 1280, height: 800 },
  ])("on $name, $width px wide", ({ width, height }) => {
    let page: Page;
    const complaints: string[] = [];
    const requested: string[] = [];

    beforeAll(async () => {
      page = await browser.newPage({ viewport: { width, height } });
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) {
          complaints.push(message.text());
        }
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => requested.push(new URL(request.url()).origin));
      await page.goto(`${demo.url}/`, { waitUntil: "networkidle" });
      await page.screenshot({ path: join(OUTPUT, `page-${width}.png`), fullPage: true });
    });

    it.each(["airdrops", "lockup"])("shows the protocol %s", async (protocol) => {
      expect(await page.getByText(protocol).first().isVisible()).toBe(true);
    });

    it("leaves the console empty", () => {
      expect(complaints).toEqual([]);
    });

    it("asks nobody but Synclag", () => {
      expect(new Set(requested)).toEqual(new Set([demo.url]));
    });

    it("does not scroll sideways", async () => {
      const widest = await page.evaluate("document.documentElement.scrollWidth");

      expect(widest).toBeLessThanOrEqual(width);
    });
  });
});

function onPath(program: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find(existsSync) ?? program;
}
