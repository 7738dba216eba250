import type { ListenAddress } from "../config/config.ts";
import type { WebSettings } from "../config/web/web-settings.ts";

/** What to say where anybody may look in who reaches the machine; null where nobody else can, or must say who they are. */
export function exposureWarning({ host, port }: ListenAddress, web: WebSettings | null): string | null {
  if (/^(localhost|127(\.\d+){3}|::1)$/.test(host) || asksWhoComes(web)) {
    return null;
  }
  return `Listening on ${host}:${port} without authentication: whoever reaches it can read everything; give --web-config with basic_auth_users or client certificates, or listen on 127.0.0.1`;
}

function asksWhoComes(web: WebSettings | null): boolean {
  return web !== null && (web.users.size > 0 || web.tls?.clientAuth === "require and verify");
}
