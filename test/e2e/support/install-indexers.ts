import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Installs the real indexers as their lock files say, once, before the tests of several files use them. */
export function setup(): void {
  for (const folder of ["ponder", "families", "subquery", "envio"]) {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], {
      cwd: fileURLToPath(new URL(`../../../tools/indexers/${folder}`, import.meta.url)),
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
}
