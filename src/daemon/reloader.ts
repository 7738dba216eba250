import type { Config, ListenAddress } from "../config/config.ts";
import { ConfigError } from "../config/yaml/config-error.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { CheckResult } from "../io/http-server/server-deps.ts";
import type { World } from "../world.ts";
import { logConfigWarnings } from "./warnings.ts";

export interface ReloaderOptions {
  readonly world: World;
  /** Where the process listens: another address takes another process. */
  readonly listen: ListenAddress;
  readonly apply: (config: Config) => Promise<void>;
}

/** Reloads one at a time: reads, checks everything, and only then goes over. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #state: MetricsSource["reload"];
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#state = { successful: true, lastSuccessMs: options.world.nowMs() };
  }

  get state(): MetricsSource["reload"] {
    return this.#state;
  }

  /** Reads the configuration anew; a bad file changes nothing and is told why. */
  async reload(): Promise<CheckResult> {
    const turn = this.#last.then(() => this.#reload());
    // A bug in one is told to whoever asked for that one.
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  async #reload(): Promise<CheckResult> {
    const { world, listen, apply } = this.#options;
    const config = tryLoad(world);
    if (config instanceof ConfigError) {
      this.#state = { ...this.#state, successful: false };
      world.logger.error({ detail: config.message }, "Reload refused: the former configuration stays");
      return { ok: false, detail: config.message };
    }
    await apply(config);
    this.#state = { successful: true, lastSuccessMs: world.nowMs() };
    world.logger.info({ file: config.file }, "Reloaded");
    logConfigWarnings(world.logger, config);
    if (config.listen.host !== listen.host || config.listen.port !== listen.port) {
      const detail = `listen ${config.listen.host}:${config.listen.port} takes effect at the next start`;
      world.logger.warn({ file: config.file, detail }, "Configuration warning");
    }
    return { ok: true, detail: `Reloaded ${config.file}` };
  }
}

function tryLoad(world: World): Config | ConfigError {
  try {
    return world.loadConfig();
  } catch (error) {
    if (error instanceof ConfigError) {
      return error;
    }
    throw error;
  }
}
