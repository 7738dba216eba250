import type { Dispatcher } from "undici";
import type { FailureReason } from "../core/observation.ts";
import type { Reply } from "../dialects/reply.ts";

type ReplyOrFailure =
  | { readonly kind: "replied"; readonly reply: Reply }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

/** Reads a whole answer of at most `maxBytes`; stops at the first byte beyond, and lets go of the connection. */
export async function readReply(
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<ReplyOrFailure> {
  const encoding = header(response, "content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    // A body that is destroyed before it was read emits an error, which nobody else listens for.
    response.body.on("error", () => undefined).destroy();
    // Anything else may be a key that is echoed back, and is not to be told.
    const name = /^(gzip|x-gzip|br|deflate|zstd)$/i.test(encoding) ? encoding : "of an unknown kind";
    const detail = `answered with content-encoding ${name}, though none was asked for`;
    return { kind: "failed", reason: "malformed", detail };
  }

  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    // Undici's bodies are byte streams: without an encoding set, each chunk is a Buffer.
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > maxBytes) {
      // Leaving the loop destroys the body, and with it the connection.
      return { kind: "failed", reason: "too_large", detail: `answered with more than ${maxBytes} bytes` };
    }
    chunks.push(part);
  }

  return {
    kind: "replied",
    reply: {
      httpStatus: response.statusCode,
      contentType: header(response, "content-type"),
      retryAfter: header(response, "retry-after"),
      // Unlike a Buffer's own, this decoding takes a byte order mark off.
      body: new TextDecoder().decode(Buffer.concat(chunks)),
    },
  };
}

function header(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? null;
}
