import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import type { Answer } from "../servers/answer.ts";
import type { Delivery } from "../servers/faults.ts";

/** Sends an answer whole and at once. */
export function deliver(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    "content-length": String(Buffer.byteLength(answer.body)),
  });
  response.end(answer.body);
}

/** Sends an answer, or fails to, as the fault has it. */
export function deliverBadly(response: ServerResponse, answer: Answer, how: Delivery): void {
  switch (how) {
    case "hang_before_headers":
      return;
    case "hang_within_body":
      startBody(response, answer);
      return;
    case "reset_before_headers":
      response.socket?.resetAndDestroy();
      return;
    case "reset_within_body":
      startBody(response, answer);
      // Only after the half has left: a reset throws away what is still to be sent.
      response.write("", () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
      return;
    case "drip":
      drip(response, answer);
      return;
    case "truncated":
      deliver(response, { ...answer, body: firstHalf(answer.body) });
      return;
    case "huge":
      sendHuge(response, answer);
      return;
    case "gzip_bomb":
      sendEncoded(response, { answer, encoding: "gzip", body: gzipBomb() });
      return;
    case "deflate_garbage":
      sendEncoded(response, { answer, encoding: "deflate", body: Buffer.from("this is no deflate stream") });
      return;
    case "plain_text":
      deliver(response, { ...answer, headers: { ...answer.headers, "content-type": "text/plain" } });
      return;
    case "untyped":
      deliver(response, { ...answer, headers: {} });
      return;
    case "http_1_0":
      response.socket?.end(
        `HTTP/1.0 ${answer.status} OK\r\ncontent-type: application/json\r\n\r\n${answer.body}`,
      );
      return;
    case "informational":
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      deliver(response, answer);
      return;
  }
}

const HUGE_CHUNK = "x".repeat(64 * 1024);
const HUGE_CHUNKS = 320;
const BOMB_MEMBERS = 64;

function startBody(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    "content-length": String(Buffer.byteLength(answer.body)),
  });
  response.write(firstHalf(answer.body));
}

function drip(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, answer.headers);
  const letters = answer.body[Symbol.iterator]();
  const timer = setInterval(() => {
    const letter = letters.next();
    if (letter.done === true) {
      response.end();
    } else {
      response.write(letter.value);
    }
  }, 1_000);
  response.on("close", () => clearInterval(timer));
}

function sendHuge(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, answer.headers);
  Readable.from(hugeJson()).pipe(response);
}

function* hugeJson(): Generator<string> {
  yield '{"data":"';
  for (let chunk = 0; chunk < HUGE_CHUNKS; chunk++) {
    yield HUGE_CHUNK;
  }
  yield '"}';
}

/** 64 gzip members of 1 MB of spaces each, which together are one valid file. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(1024 * 1024, " "));
  return Buffer.concat(Array.from({ length: BOMB_MEMBERS }, () => member));
}

function sendEncoded(
  response: ServerResponse,
  { answer, encoding, body }: { readonly answer: Answer; readonly encoding: string; readonly body: Buffer },
): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    "content-encoding": encoding,
    "content-length": String(body.length),
  });
  response.end(body);
}

function firstHalf(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}
