import type { WebSettings } from "../../config/web/web-settings.ts";

export interface LiveWebOptions {
  /** Reads and checks all files anew. @throws If anything is wrong with them. */
  readonly load: () => WebSettings;
  readonly onChanged: () => void;
  /** Told once of each way in which the files went wrong. */
  readonly onRefused: (error: unknown) => void;
  readonly monotonicMs: () => number;
}

/** Often enough for a rotation, seldom enough for any number of requests. */
const FRESH_MS = 1_000;

/** The web configuration as its files are now: they are read again when somebody comes, no restart is needed. */
export class LiveWebSettings {
  readonly #options: LiveWebOptions;
  #current: WebSettings;
  #readMs: number;
  #refused = "";

  /** @throws If anything is wrong with the files. */
  constructor(options: LiveWebOptions) {
    this.#options = options;
    this.#current = options.load();
    this.#readMs = options.monotonicMs();
  }

  /** A second old at most. While the files are wrong, as in the middle of a rotation, those before them stay. */
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
      const refused = String(error);
      if (refused !== this.#refused) {
        this.#refused = refused;
        this.#options.onRefused(error);
      }
      return;
    }
    this.#refused = "";
    if (textOf(next) !== textOf(this.#current)) {
      this.#current = next;
      this.#options.onChanged();
    }
  }
}

function textOf(settings: WebSettings): string {
  return JSON.stringify({ ...settings, users: [...settings.users] });
}
