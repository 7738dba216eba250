import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { runProgram } from "./program.ts";
import { undoLater } from "./undo.ts";

/** The Chromium of the PATH, without a window. */
export async function startChromium(): Promise<Browser> {
  await runProgram({ command: "chromium", args: ["--version"] }); // Says what to install when it is missing.
  const browser = await chromium.launch({ executablePath: onPath("chromium"), args: ["--no-sandbox"] });
  undoLater(() => browser.close());
  return browser;
}

/** The errors of a page, and the hosts of its requests, until it is closed. */
export interface Watched {
  readonly complaints: readonly string[];
  readonly origins: ReadonlySet<string>;
}

/** Watches a page that has not been opened yet. */
export function watchPage(page: Page): Watched {
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  return { complaints, origins };
}

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with a page, a line each. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found: unknown = await page.evaluate(`
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + ": " + help + ": " + target.join(" ") + ": " + failureSummary)))`);
  // The expression above makes a list of texts.
  return found as readonly string[];
}

function onPath(program: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find(existsSync) ?? program;
}
