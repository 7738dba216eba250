import type { Logger } from "pino";
import type { Config } from "../config/config.ts";

/** Logs what a good configuration is to be warned of: what is skipped, say, because a variable is not set. */
export function warnOfConfig(logger: Logger, { file, warnings }: Pick<Config, "file" | "warnings">): void {
  for (const warning of warnings) {
    logger.warn({ file, detail: warning }, "Configuration warning");
  }
}
