import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { maxHeaderSize } from "node:http";
import { Socket } from "node:net";

/** The channel on which undici reports each request whose head it has written, for every client in this process. */
const SENT = "undici:client:sendHeaders";
/** The status line of an interim reply. 101 is not skipped: after an upgrade, the connection is useless. */
const INTERIM = /^HTTP\/1\.\d 1(?!01)\d\d$/;
const START = "HTTP/1.";
const STATUS_ENDS_AT = "HTTP/1.1 100".length;
const END_OF_HEAD = "\r\n\r\n";

/**
 * Hides interim replies from undici, which would close the connection. A server may send them at any time (RFC 9110, 15.2).
 * Returns a function that stops the hiding.
 */
export function skipInterimReplies(): () => void {
  subscribe(SENT, onSent);
  return () => void unsubscribe(SENT, onSent);
}

function onSent(message: unknown): void {
  if (message instanceof Object && "socket" in message && message.socket instanceof Socket) {
    skipOnce(message.socket);
  }
}

/** Skips interim replies until the final reply begins. Closes the connection if they exceed `maxHeaderSize`. */
function skipOnce(socket: Socket): void {
  let held = Buffer.alloc(0);
  let isInside = false;
  let left = maxHeaderSize;

  /** The bytes of the final reply; null while only interim replies have come. */
  function replyIn(chunk: Buffer): Buffer | null {
    let bytes = Buffer.concat([held, chunk]);
    while (isInside || INTERIM.test(statusOf(bytes))) {
      const end = bytes.indexOf(END_OF_HEAD);
      isInside = end < 0;
      const skipped = isInside
        ? Math.max(0, bytes.length - END_OF_HEAD.length + 1)
        : end + END_OF_HEAD.length;
      left -= skipped;
      bytes = bytes.subarray(skipped);
      if (isInside) {
        break;
      }
    }
    if (isInside || mayBecomeInterim(bytes)) {
      held = bytes;
      return null;
    }
    Reflect.deleteProperty(socket, "read");
    return bytes;
  }

  socket.read = (size) => {
    let reply: Buffer | null = null;
    let chunk: unknown;
    do {
      chunk = Socket.prototype.read.call(socket, size);
      reply = chunk instanceof Buffer ? replyIn(chunk) : null;
    } while (reply === null && chunk !== null && left >= 0);
    if (left < 0) {
      socket.destroy(
        Object.assign(new Error("too many interim replies"), { code: "UND_ERR_HEADERS_OVERFLOW" }),
      );
    }
    return reply;
  };
}

function mayBecomeInterim(bytes: Buffer): boolean {
  const status = statusOf(bytes);
  return status.length < STATUS_ENDS_AT && START.startsWith(status.slice(0, START.length));
}

function statusOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, STATUS_ENDS_AT);
}
