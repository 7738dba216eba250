import { createServer, request as forward } from "node:http";
import { connect } from "node:net";
import { type Listener, listen } from "./listener.ts";

/** An HTTP proxy on loopback that resolves every host name to this machine. */
export interface ConnectProxy extends Listener {
  /** The requests that it received: `CONNECT host:port`, or `POST http://host:port/path`. */
  readonly asked: readonly string[];
}

/** Starts it; with `authorization`, it refuses requests without that header. */
export async function startConnectProxy(authorization?: string): Promise<ConnectProxy> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { port, pathname } = new URL(request.url ?? "");
    const onwards = forward(
      { host: "127.0.0.1", port, path: pathname, method: request.method ?? "POST" },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      },
    );
    request.pipe(onwards);
  });
  server.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (authorization !== undefined && request.headers["proxy-authorization"] !== authorization) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const onwards = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.pipe(onwards).pipe(socket);
    });
    // Either side may close first.
    onwards.on("error", () => socket.destroy());
    socket.on("error", () => onwards.destroy());
  });
  return { ...(await listen(server)), asked };
}
