import { writeFileSync } from "node:fs";
import { renderedFiles } from "./rendered-files.ts";

for (const [path, text] of renderedFiles()) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
}
