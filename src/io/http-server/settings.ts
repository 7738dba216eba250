import type { Logger } from "pino";
import type { WebSettings, WebSettingsSource } from "../../config/config.ts";

/** Files are read at most once in this time. */
const FRESH_MS = 1_000;

/**
 * The web configuration. Requests read its files again, so that most changes need no restart. While a file is invalid, or a
 * change needs a restart, the previous settings stay and an error is logged once; its end is logged, too.
 *
 * @throws If a file is invalid.
 */
export function liveWebSettings(
  load: () => WebSettings,
  monotonicMs: () => number,
  logger: Logger,
): WebSettingsSource {
  let current = load();
  let readMs = monotonicMs();
  let lastError = "";

  function read(): void {
    try {
      const next = load();
      assertChangeable(current, next);
      if (lastError !== "" || textOf(next) !== textOf(current)) {
        current = next;
        logger.info({ file: next.file }, "Web configuration reloaded");
      }
      lastError = "";
    } catch (error) {
      if (String(error) !== lastError) {
        lastError = String(error);
        const detail = error instanceof Error ? error.message : lastError;
        logger.error({ detail }, "Web configuration reload failed; keeping the current one");
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
 * Refuses changes that a running listener cannot make. Dangers: passwords would be sent in clear text, everybody would be locked
 * out, or an emptied file would open the server. @throws {Error} If a restart is needed.
 */
function assertChangeable(current: WebSettings, next: WebSettings): void {
  const refusal = [
    (current.tls === null) !== (next.tls === null) &&
      `TLS cannot be ${next.tls === null ? "disabled" : "enabled"}`,
    current.tls?.clientAuth !== next.tls?.clientAuth && "client_auth_type cannot be changed",
    current.users.size > 0 && next.users.size === 0 && "the last user cannot be removed",
  ].find((one) => one !== false);
  if (refusal !== undefined) {
    throw new Error(`${next.file}: ${refusal} without a restart`);
  }
}

function textOf(settings: WebSettings): string {
  return JSON.stringify({ ...settings, users: [...settings.users] });
}
