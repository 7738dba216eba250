import type { Socket } from "node:net";
import type { SecureContextOptions, Server, TLSSocket, TlsOptions } from "node:tls";
import type { TlsSettings, WebSettingsSource } from "../../config/config.ts";
import { peerOf } from "./connections.ts";

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** The options of a TLS server. */
export function tlsOptions(tls: TlsSettings): TlsOptions {
  return {
    ...contextOf(tls),
    requestCert: tls.clientAuth !== "none",
    rejectUnauthorized: tls.clientAuth === "require and verify",
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  };
}

/**
 * Uses the current certificates for each new connection, and closes connections of clients that are not allowed. Returns a check
 * for each request: false if `client_ca_file` has changed since its connection began.
 */
export function keepTlsFresh(server: Server, web: WebSettingsSource): (socket: Socket) => boolean {
  let inUse = web.current.tls;
  /** The settings that each connection began with, by address and port. */
  const begunWith = new Map<string, TlsSettings | null>();
  // Called before the server's own listener, which starts the handshake.
  server.prependListener("connection", (socket: Socket) => {
    const { tls } = web.current;
    if (tls !== null && tls !== inUse) {
      inUse = tls;
      server.setSecureContext(contextOf(tls));
    }
    const peer = peerOf(socket);
    begunWith.set(peer, inUse);
    socket.once("close", () => begunWith.delete(peer));
  });
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    if (inUse !== null && !isClientAllowed(socket, inUse)) {
      socket.destroy();
    }
  });
  return (socket) => begunWith.get(peerOf(socket))?.clientCa === web.current.tls?.clientCa;
}

function contextOf(tls: TlsSettings): SecureContextOptions {
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: tls.minVersion,
    honorCipherOrder: true,
    ...(tls.clientCa === null ? {} : { ca: tls.clientCa }),
  };
}

/** Whether exporter-toolkit's `client_auth_type` admits the client. Node itself knows only "require and verify" and "request". */
function isClientAllowed(socket: TLSSocket, { clientAuth }: TlsSettings): boolean {
  const certificate = socket.getPeerX509Certificate();
  switch (clientAuth) {
    case "none":
    case "request":
      return true;
    case "verify if given":
      return certificate === undefined || socket.authorized;
    case "require any":
      return certificate !== undefined;
    case "require and verify":
      return certificate !== undefined && socket.authorized;
  }
}
