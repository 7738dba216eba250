import { readdirSync, readFileSync } from "node:fs";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { createRedact } from "../../src/core/model/redact.ts";

/** A target without a server: the daemon runs all the same. */
export const CHAINS_YAML = `version: 1
listen: 127.0.0.1:0
chains: { base: { id: 8453 } }
protocols:
  airdrops: [{ variant: multichain, url: "http://127.0.0.1:9/", chains: [base] }]
`;

interface Printed {
  readonly out: string[];
  readonly err: string[];
}

/** The world of a command: these variables, the real files, and the printed lines, which are kept. */
export function commandWorld(env: Readonly<Record<string, string>>): {
  readonly world: CommandWorld;
  readonly printed: Printed;
} {
  const printed: Printed = { out: [], err: [] };
  const secrets: string[] = [];
  const world: CommandWorld = {
    env,
    packageRoot: new URL("../../", import.meta.url).pathname,
    nodeVersion: process.version,
    readFile: (path) => readFileSync(path, "utf8"),
    listFiles: (folder, pattern) =>
      readdirSync(folder)
        .filter((name) => pattern.test(name))
        .sort(),
    out: (line) => printed.out.push(line),
    err: (line) => printed.err.push(line),
    outIsTerminal: false,
    errIsTerminal: false,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    uptimeMs: () => performance.now(),
    random: () => 0.5,
    onSignal: () => undefined,
    keepSecret: (texts) => {
      secrets.push(...texts);
    },
    redact: (text) => createRedact(secrets)(text),
    crash: (error) => {
      throw error;
    },
  };
  return { world, printed };
}
