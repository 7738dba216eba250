import { type Logger, pino } from "pino";
import type { Redact } from "../core/model/redact.ts";
import type { LogFormat, LogLevel } from "./log-options.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colour: "ansi" | "none";
  readonly redact: () => Redact;
  /** Takes a whole line with its newline. */
  readonly write: (line: string) => void;
}

/** A logger whose every line has gone through `redact` as a whole, whatever field a secret came in. */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const format = options.format === "pretty" ? await prettyFormat(options.colour) : (line: string) => line;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line) => options.write(format(options.redact()(line))) },
  );
}

/** For a person at a terminal: one line an event. Loaded only where it is wanted. */
async function prettyFormat(colour: LoggerOptions["colour"]): Promise<(line: string) => string> {
  const { prettyFactory } = await import("pino-pretty");
  return prettyFactory({
    colorize: colour === "ansi",
    singleLine: true,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
  });
}
