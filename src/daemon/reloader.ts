import type { Config, ListenAddress } from "../config/config.ts";
import { ConfigError } from "../config/problems.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { ReloadResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";
import { logConfigWarnings } from "./start-log.ts";

export interface ReloaderOptions {
  readonly world: Pick<World, "loadConfig" | "hasConfigChanged" | "logger" | "nowMs" | "onBug">;
  /** Where the server listens: another address takes effect at the next start. */
  readonly listen: ListenAddress;
  readonly apply: (config: Config) => Promise<void>;
}

/** Soon enough for people; Kubernetes itself takes up to a minute to update a mounted ConfigMap. */
const WATCH_INTERVAL_MS = 2_000;

/** Reloads the configuration, one reload at a time: reads and checks all of it before anything changes. */
export class Reloader implements AsyncDisposable {
  readonly #options: ReloaderOptions;
  #state: MetricsSource["reload"];
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#state = { successful: true, lastSuccessMs: options.world.nowMs() };
  }

  get state(): MetricsSource["reload"] {
    return this.#state;
  }

  /** Reads the configuration again; an invalid file changes nothing. */
  async reload(): Promise<ReloadResult> {
    const turn = this.#last.then(() => this.#reload());
    // A bug in one reload is thrown to its own caller only.
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  /** Reloads whenever the files of the configuration have changed, where the world watches them. */
  watch(): void {
    const { hasConfigChanged, onBug } = this.#options.world;
    this.#timer = setInterval(() => {
      if (hasConfigChanged?.() === true) {
        this.reload().catch(onBug);
      }
    }, WATCH_INTERVAL_MS);
  }

  /** Reloads nothing from now on: a configuration applied while the process stops would start polls that nothing ends. */
  stop(): void {
    clearInterval(this.#timer);
    this.#isStopped = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#last;
  }

  async #reload(): Promise<ReloadResult> {
    const { world, listen, apply } = this.#options;
    if (this.#isStopped) {
      return { kind: "failed", detail: "Shutting down" };
    }
    let config: Config;
    try {
      config = world.loadConfig();
    } catch (error) {
      if (!(error instanceof ConfigError)) {
        throw error;
      }
      this.#state = { ...this.#state, successful: false };
      world.logger.error({ detail: error.message }, "Reload failed; keeping the current configuration");
      return { kind: "failed", detail: error.message };
    }
    await apply(config);
    this.#state = { successful: true, lastSuccessMs: world.nowMs() };
    world.logger.info({ file: config.file }, "Reloaded");
    logConfigWarnings(world.logger, config);
    if (config.listen.host !== listen.host || config.listen.port !== listen.port) {
      const detail = `listen ${config.listen.host}:${config.listen.port} takes effect at the next start`;
      world.logger.warn({ file: config.file, detail }, "Configuration warning");
    }
    return { kind: "reloaded", detail: `Reloaded ${config.file}` };
  }
}
