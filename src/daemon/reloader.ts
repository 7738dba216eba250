import type { Config, ListenAddress } from "../config/config.ts";
import { ConfigError } from "../config/problems.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import { isoTime } from "../core/model/text.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";
import { logConfigWarnings } from "./start-log.ts";

/** Soon enough for people; Kubernetes itself takes up to a minute to update a mounted ConfigMap. */
const WATCH_INTERVAL_MS = 2_000;

interface ReloadEvents {
  readonly reloaded: (config: Config) => void;
  readonly failed: (detail: string) => void;
}

/** Reloads the configuration: reads and checks all of it before anything changes. */
export class Reloader implements Disposable {
  readonly #world: World;
  readonly #listen: ListenAddress;
  readonly #on: ReloadEvents;
  #state: MetricsSource["reload"];
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** `config`: the configuration of the start. A reload does not change the address to listen on. */
  constructor(world: World, { listen }: Config, on: ReloadEvents) {
    this.#world = world;
    this.#listen = listen;
    this.#on = on;
    this.#state = { error: null, lastSuccessMs: world.nowMs() };
  }

  get state(): MetricsSource["reload"] {
    return this.#state;
  }

  /** Reads the configuration again; an invalid file changes nothing. */
  reload(): ProbeResult {
    const { loadConfig, logger, nowMs } = this.#world;
    if (this.#isStopped) {
      return { ok: false, detail: "Shutting down" };
    }
    let config: Config;
    try {
      config = loadConfig();
    } catch (error) {
      if (!(error instanceof ConfigError)) {
        throw error;
      }
      const { message: detail } = error;
      this.#state = { ...this.#state, error: { time: isoTime(nowMs()), detail } };
      this.#on.failed(detail);
      logger.error({ detail: error.message }, "Reload failed; keeping the current configuration");
      return { ok: false, detail: error.message };
    }
    this.#on.reloaded(config);
    this.#state = { error: null, lastSuccessMs: nowMs() };
    const { file, listen } = config;
    logger.info({ file }, "Reloaded");
    logConfigWarnings(logger, config);
    if (listen.host !== this.#listen.host || listen.port !== this.#listen.port) {
      const detail = `listen ${listen.host}:${listen.port} takes effect at the next start`;
      logger.warn({ file, detail }, "Configuration warning");
    }
    return { ok: true, detail: `Reloaded ${file}` };
  }

  /** Reloads whenever the files of the configuration have changed, if the world watches them. */
  watch(): void {
    const { hasConfigChanged, onBug } = this.#world;
    this.#timer = setInterval(() => {
      try {
        if (hasConfigChanged?.() === true) {
          this.reload();
        }
      } catch (error) {
        onBug(error);
      }
    }, WATCH_INTERVAL_MS);
  }

  /** Ends all reloads: a configuration that is applied while the process stops would start polls that nothing ends. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#isStopped = true;
  }
}
