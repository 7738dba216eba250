import { type Logger, pino } from "pino";
import type { Redact } from "../core/model/redact.ts";
import type { LogFormat, LogLevel } from "./log-options.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colour: "ansi" | "none";
  /** Removes the secrets that are known when a line is written. */
  readonly redact: Redact;
  /** Takes a line without its newline. */
  readonly write: (line: string) => void;
}

/** A logger that redacts whole lines, because a secret may be in any field. */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const format = options.format === "pretty" ? await prettyFormat(options.colour) : (line: string) => line;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line) => options.write(format(options.redact(line)).trimEnd()) },
  );
}

/** Formats lines for a terminal. Its library is loaded only if it is used. */
async function prettyFormat(colour: LoggerOptions["colour"]): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: colour === "ansi",
    singleLine: true,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
  });
}
