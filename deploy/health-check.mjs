// Whether the daemon on this port of this container is alive: the image's HEALTHCHECK, which knows no password.
//
// `/-/healthy` tells, where it may be asked. A daemon that a web configuration guards turns strangers away; one that
// does so is alive as well, though whether its poll loop makes progress is then seen by who has a password only.
import { get as getOverHttp } from "node:http";
import { get as getOverHttps } from "node:https";

/** Less than Docker waits. */
const WITHIN_MS = 3_000;

const [port = "9855"] = process.argv.slice(2);
const asked = { host: "127.0.0.1", port, path: "/-/healthy" };
setTimeout(() => process.exit(1), WITHIN_MS);
const answers = await Promise.all([isAliveOver(getOverHttp, asked), isAliveOver(getOverHttps, asked)]);
process.exit(answers.includes(true) ? 0 : 1);

function isAliveOver(get, options) {
  return new Promise((resolve) => {
    let hasShakenHands = false;
    // Whose certificate it is doesn't matter on loopback.
    const request = get({ ...options, rejectUnauthorized: false }, ({ statusCode }) =>
      resolve(statusCode < 500),
    );
    request.on("socket", (socket) => {
      socket.on("secureConnect", () => {
        hasShakenHands = true;
      });
    });
    // Who wants a client's certificate ends the connection without an answer.
    request.on("error", () => resolve(hasShakenHands));
  });
}
