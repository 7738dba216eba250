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

/**
 * The web configuration, whose files are read again when a request comes, so that a change needs no restart. The previous settings
 * stay while a file is invalid, as in the middle of a rotation, and after a change that needs a restart.
 *
 * @throws If a file is invalid.
 */
export function liveWebSettings({
  load,
  onChanged,
  onInvalid,
  monotonicMs,
}: LiveWebOptions): WebSettingsSource {
  let current = load();
  let readMs = monotonicMs();
  let lastError = "";

  function read(): void {
    try {
      const next = load();
      assertChangeable(current, next);
      lastError = "";
      if (textOf(next) !== textOf(current)) {
        current = next;
        onChanged();
      }
    } catch (error) {
      if (String(error) !== lastError) {
        lastError = String(error);
        onInvalid(error);
      }
    }
  }

  return {
    get current() {
      if (monotonicMs() - readMs >= FRESH_MS) {
        readMs = monotonicMs();
        read();
      }
      return current;
    },
  };
}

/**
 * A part of a change that a running listener cannot make would ask for passwords in clear text, or lock everybody out. An emptied
 * file must not open the server. @throws If a restart is needed.
 */
function assertChangeable(current: WebSettings, next: WebSettings): void {
  const fixed = [
    (current.tls === null) !== (next.tls === null) &&
      `TLS cannot be ${next.tls === null ? "disabled" : "enabled"}`,
    current.tls?.clientAuth !== next.tls?.clientAuth && "client_auth_type cannot be changed",
    current.users.size > 0 && next.users.size === 0 && "the last user cannot be removed",
  ].find((one) => one !== false);
  if (fixed !== undefined) {
    throw new Error(`${next.file}: ${fixed} without a restart`);
  }
}

function textOf(settings: WebSettings): string {
  return JSON.stringify({ ...settings, users: [...settings.users] });
}
