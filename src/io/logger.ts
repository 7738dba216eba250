import { type Logger, pino } from "pino";
import type { Redact } from "../core/model/redact.ts";
import type { LogFormat, LogLevel } from "./log-options.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colour: "ansi" | "none";
  /** Removes the secrets that are known by then. */
  readonly redact: Redact;
  /** Takes a line without its newline; `onDone` is to be called with the error of a line that could not be written. */
  readonly write: (line: string, onDone: (error?: Error | null) => void) => void;
}

/** `lostLogLines`: how many lines could not be written. */
export interface OpenLog {
  readonly logger: Logger;
  readonly lostLogLines: () => number;
}

/**
 * A logger that redacts each line as a whole, whatever field a secret is in. A line that cannot be written, to a full
 * disk say, is lost; the number of lost lines is logged once the output works again.
 */
export async function createLogger(options: LoggerOptions): Promise<OpenLog> {
  const format = options.format === "pretty" ? await prettyFormat(options.colour) : (line: string) => line;
  let lostLines = 0;
  let reportedLines = 0;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line) => options.write(format(options.redact(line)).trimEnd(), onDone) },
  );

  function onDone(error?: Error | null): void {
    if (error != null) {
      lostLines += 1;
    } else if (lostLines > reportedLines) {
      const lines = lostLines - reportedLines;
      reportedLines = lostLines;
      logger.warn({ lines }, "Log output works again; lines were lost");
    }
  }
  return { logger, lostLogLines: () => lostLines };
}

/** One readable line an event, for a terminal. Loaded only where it is used. */
async function prettyFormat(colour: LoggerOptions["colour"]): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: colour === "ansi",
    singleLine: true,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
  });
}
