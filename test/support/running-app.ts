import { pino } from "pino";
import { type App, runApp } from "../../src/app/app.ts";
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/parse.ts";
import type { World } from "../../src/io/world.ts";

/** A configuration from its text, as from the file; the daemon listens on a free port. */
export function configOf(text: string): Config {
  return { ...parsed(text), listen: { host: "127.0.0.1", port: 0 } };
}

/** A configuration from its text. Most tests of a file have the same one, so it is read once. */
export function parsed(text: string, env: Readonly<Record<string, string>> = {}): Config {
  const key = JSON.stringify([text, env]);
  const config = CONFIGS.get(key) ?? parseConfig(text, { file: "chains.yaml", env, readFile: failToRead });
  CONFIGS.set(key, config);
  return config;
}

const CONFIGS = new Map<string, Config>();

/** Starts the daemon on this configuration in this process, with the real clock; `world` replaces parts of its world. */
export function startTestApp(config: Config, world: Partial<World> = {}): Promise<RunningApp> {
  return new Promise((resolve, reject) => {
    let stop: () => void = () => undefined;
    const stopped = new Promise<void>((onStop) => {
      stop = onStop;
    });
    const running = runApp(config, { ...testWorld(config), ...world }, (app) => {
      const dispose = async () => {
        stop();
        await running;
      };
      resolve({ ...app, [Symbol.asyncDispose]: dispose });
      return stopped;
    });
    running.catch(reject);
  });
}

/** Disposing it stops everything. */
export type RunningApp = App & AsyncDisposable;

/** The real clock, no state file, and a log without a reader. */
export function testWorld(config: Config): World {
  return {
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    uptimeMs: () => performance.now(),
    random: () => 0.5,
    logger: pino({ level: "silent" }),
    loadConfig: () => config,
    onBug: (error) => {
      throw error;
    },
    build: { version: "0.0.0-test", revision: "test", nodeVersion: process.version },
    isLifecycleEnabled: true,
    stateFile: null,
  };
}

/** Samples of `/metrics` by their series, as text. */
export async function scrape(app: Pick<App, "url">): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const cut = line.lastIndexOf(" ");
      return [line.slice(0, cut), Number(line.slice(cut + 1))];
    }),
  );
}

function failToRead(path: string): never {
  throw new Error(`Cannot read ${path}: a test's configuration has no files`);
}
