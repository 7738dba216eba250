// The image's HEALTHCHECK: exits with 0 if the daemon on this port of the container is alive.
//
// It asks `/-/healthy` without a password. With a web configuration, the daemon may refuse such a request. Then it counts as
// alive, but a stuck poll loop is not noticed here.
import { get as getOverHttp } from "node:http";
import { get as getOverHttps } from "node:https";

/** Shorter than the timeout of Docker. */
const WITHIN_MS = 3_000;

const [port = "9855"] = process.argv.slice(2);
const asked = { host: "127.0.0.1", port, path: "/-/healthy" };
setTimeout(() => process.exit(1), WITHIN_MS);
const answers = await Promise.all([isAliveOver(getOverHttp, asked), isAliveOver(getOverHttps, asked)]);
process.exit(answers.includes(true) ? 0 : 1);

function isAliveOver(get, options) {
  return new Promise((resolve) => {
    let hasShakenHands = false;
    // On loopback, the name in the certificate does not matter.
    const request = get({ ...options, rejectUnauthorized: false }, ({ statusCode }) =>
      resolve(statusCode < 500),
    );
    request.on("socket", (socket) => {
      socket.on("secureConnect", () => {
        hasShakenHands = true;
      });
    });
    // A server that requires a client certificate ends the connection after the handshake, without a reply.
    request.on("error", () => resolve(hasShakenHands));
  });
}
