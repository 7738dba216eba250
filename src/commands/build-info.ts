import type { Build } from "../world.ts";
import type { CommandWorld } from "./command-world.ts";

/** Which build this is: the version of package.json, and the revision that the image was built from, where it says so. */
export function buildOf(world: CommandWorld): Build {
  // package.json is the project's own: npm refuses one without a version.
  const { version } = JSON.parse(world.readFile(`${world.packageRoot}package.json`)) as { version: string };
  return { version, revision: world.env["SYNCLAG_REVISION"] ?? "unknown", nodeVersion: world.nodeVersion };
}
