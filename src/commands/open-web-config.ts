import type { Logger } from "pino";
import { parseWebConfig } from "../config/web/parse.ts";
import type { WebSettings } from "../config/web/web-settings.ts";
import { LiveWebSettings } from "../io/http-server/settings.ts";
import type { CommandWorld } from "./command-world.ts";
import { readConfigFile } from "./load-config.ts";

type Reading = Pick<CommandWorld, "readFile" | "monotonicMs">;

/**
 * Opens a web configuration, to be read again as it changes.
 *
 * @throws {ConfigError} If a file cannot be read, or has a mistake.
 */
export function openWebConfig(file: string, world: Reading, logger: () => Logger): LiveWebSettings {
  return new LiveWebSettings({
    load: () => load(file, world),
    onChanged: () => logger().info({ file }, "Web configuration read anew"),
    onRefused: (error) =>
      logger().error(
        { detail: error instanceof Error ? error.message : String(error) },
        "Web configuration refused: the former one stays",
      ),
    monotonicMs: world.monotonicMs,
  });
}

function load(file: string, world: Reading): WebSettings {
  return parseWebConfig(readConfigFile(file, world, "--web-config"), { file, readFile: world.readFile });
}
