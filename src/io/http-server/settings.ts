import type { WebSettings, WebSettingsSource } from "../../config/web/web-settings.ts";

export interface LiveWebOptions {
  /** Reads and checks all files. @throws If one is invalid. */
  readonly load: () => WebSettings;
  readonly onChanged: () => void;
  /** Called once for each different error. */
  readonly onInvalid: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

/** Soon enough for a rotation of certificates, whatever the number of requests. */
const FRESH_MS = 1_000;

/** Reads the files of the web configuration again when a request comes, so that a change needs no restart. */
export class LiveWebSettings implements WebSettingsSource {
  readonly #options: LiveWebOptions;
  #current: WebSettings;
  #readMs: number;
  #lastError = "";

  /** @throws If a file is invalid. */
  constructor(options: LiveWebOptions) {
    this.#options = options;
    this.#current = options.load();
    this.#readMs = options.monotonicMs();
  }

  /** At most a second old. While a file is invalid, as in the middle of a rotation, the previous settings stay. */
  get current(): WebSettings {
    const nowMs = this.#options.monotonicMs();
    if (nowMs - this.#readMs >= FRESH_MS) {
      this.#readMs = nowMs;
      this.#read();
    }
    return this.#current;
  }

  #read(): void {
    let next: WebSettings;
    try {
      next = this.#options.load();
    } catch (error) {
      const message = String(error);
      if (message !== this.#lastError) {
        this.#lastError = message;
        this.#options.onInvalid(error);
      }
      return;
    }
    this.#lastError = "";
    if (textOf(next) !== textOf(this.#current)) {
      this.#current = next;
      this.#options.onChanged();
    }
  }
}

function textOf(settings: WebSettings): string {
  return JSON.stringify({ ...settings, users: [...settings.users] });
}
