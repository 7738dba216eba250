import type { Browser } from "playwright-core";

const COLOURS: Readonly<Record<string, string>> = {
  "31;1": "bad",
  "32": "ok",
  "33": "warn",
  "34": "busy",
  "2": "idle",
};

const STYLE = `
body{margin:0;background:#16181d;color:#d7dae0;display:inline-block;padding:14px 18px;font:13px/1.5 "DejaVu Sans Mono",monospace}
pre{margin:0;font:inherit}.prompt{color:#7f8896}.bad{color:#ff7b72;font-weight:700}.ok{color:#7ee787}.warn{color:#e3b341}.busy{color:#79c0ff}.idle{opacity:.6}`;

/** A picture of what a command printed on a terminal. */
export async function pictureTerminal(
  browser: Browser,
  { command, output, path }: { readonly command: string; readonly output: string; readonly path: string },
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 400 }, deviceScaleFactor: 1 });
  await page.setContent(
    `<style>${STYLE}</style><pre><span class="prompt">$</span> ${escaped(command)}\n${toMarkup(output)}</pre>`,
  );
  await page.locator("body").screenshot({ path });
  await page.close();
}

/** Text with the few escape sequences that Synclag prints. */
function toMarkup(output: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a terminal is told a colour.
  return escaped(output).replace(/\u001B\[([\d;]+)m(.*?)\u001B\[0m/gs, (_, code: string, text: string) => {
    return `<span class="${COLOURS[code] ?? ""}">${text}</span>`;
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
