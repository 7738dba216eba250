import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";

/** What `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` hold; an empty text where one is not set. */
export interface ProxySettings {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

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
