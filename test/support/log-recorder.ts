import { type Logger, pino } from "pino";

/** A line of the log; `level` in pino's numbers: 20 debug, 30 info, 40 warn, 50 error. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A real logger whose lines are kept. */
export function recordLog(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (line: string): void => {
    lines.push(JSON.parse(line) as LogLine);
  };
  return { logger: pino({ level: "debug", base: null, timestamp: false }, { write }), lines };
}
