import { mkdirSync, writeFileSync } from "node:fs";
import { renderedFiles } from "./rendered-files.ts";

for (const [path, text] of renderedFiles()) {
  const file = new URL(`../${path}`, import.meta.url);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, text);
}
