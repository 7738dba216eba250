import type { LogFormat, LogLevel } from "../io/log-options.ts";

/** The options of all commands. Each command has those that `cli.ts` lists for it, and uses no others. */
export interface Flags {
  readonly chain: readonly string[];
  readonly chainId?: string;
  readonly cluster?: string;
  readonly config: string;
  readonly discover?: true;
  readonly enableLifecycle?: true;
  readonly every: string;
  readonly format: "table" | "json" | "prometheus" | "nagios";
  readonly grafana?: string;
  readonly header: readonly string[];
  readonly job?: string;
  readonly kind?: string;
  readonly limit: string;
  readonly listen?: string;
  readonly logFormat?: LogFormat;
  readonly logLevel: LogLevel;
  readonly maxLag?: string;
  readonly output: string;
  readonly record?: string;
  readonly runbooks?: string;
  readonly scenario: string;
  readonly since: string;
  readonly speed: string;
  readonly state?: string;
  readonly status?: string;
  readonly store?: string;
  readonly testnets: "page" | "ticket" | "none";
  readonly timeout: string;
  readonly url?: string;
  readonly watchConfig?: true;
  readonly webConfig?: string;
}
