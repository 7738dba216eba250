import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { ProxySettings } from "../../config/config.ts";

/** Sends the requests to one origin: through the proxy if there is one for it, but never to this machine itself. */
export function createDispatcher(
  origin: string,
  options: Agent.Options,
  proxy: ProxySettings | null,
): Dispatcher {
  return proxy === null || isLoopback(new URL(origin).hostname)
    ? new Agent(options)
    : // Plain HTTP is not tunnelled: many proxies allow CONNECT for port 443 alone.
      new EnvHttpProxyAgent({ ...options, ...proxy, proxyTunnel: false });
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
