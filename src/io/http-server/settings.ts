import type { WebSettings, WebSettingsSource } from "../../config/config.ts";

export interface LiveWebOptions {
  /** Reads and checks all files. @throws If one is invalid. */
  readonly load: () => WebSettings;
  readonly onChanged: () => void;
  /** Called once for each different error, and for each different change that needs a restart. */
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

  /**
   * At most a second old. The previous settings stay while a file is invalid, as in the middle of a rotation, and after a
   * change that needs a restart.
   */
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
      const fixed = findFixed(this.#current, next);
      if (fixed !== null) {
        throw new Error(`${next.file}: ${fixed} without a restart`);
      }
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

/**
 * What a running listener cannot change; null if there is nothing. A part of such a change would ask for passwords in
 * clear text, or lock everybody out. An emptied file must not open the server.
 */
function findFixed(current: WebSettings, next: WebSettings): string | null {
  if ((current.tls === null) !== (next.tls === null)) {
    return `TLS cannot be ${next.tls === null ? "disabled" : "enabled"}`;
  }
  if (current.tls?.clientAuth !== next.tls?.clientAuth) {
    return "client_auth_type cannot be changed";
  }
  return current.users.size > 0 && next.users.size === 0 ? "the last user cannot be removed" : null;
}

function textOf(settings: WebSettings): string {
  return JSON.stringify({ ...settings, users: [...settings.users] });
}
