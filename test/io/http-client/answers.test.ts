import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { it } from "vitest";
import type { PostResult } from "../../../src/core/model/http-post.ts";
import { clientOf } from "../../support/client-of.ts";
import { type RawServer, startRawServer } from "../../support/raw-server.ts";
import { expectTold } from "../../support/tell.ts";

it("createHttpClient() reads replies as test/fixtures/http-answers.txt says", async () => {
  await using elsewhere = await startRawServer({ onRequest: (socket) => socket.end() });
  await expectTold("test/fixtures/http-answers.txt", () => new Conversation(elsewhere));
});

class Conversation {
  readonly #elsewhere: RawServer;
  readonly #deeds: (readonly [verb: string, text: string])[] = [];
  readonly #settings = new Map<string, string>();
  readonly #headers: Record<string, string> = {};
  #request = "";

  constructor(elsewhere: RawServer) {
    this.#elsewhere = elsewhere;
  }

  async do(line: string): Promise<readonly string[]> {
    const [verb = "", ...words] = line.split(" ");
    const text = words.join(" ");
    switch (verb) {
      case "post":
        return [told(await this.#post())];
      case "request":
        return this.#request.split("\r\n").filter((one) => one !== "");
      case "elsewhere":
        return [`${this.#elsewhere.connectionCount()} times`];
      case "header":
        this.#headers[words[0]?.slice(0, -1) ?? ""] = words.slice(1).join(" ");
        return [];
      case "get":
      case "keep":
      case "hurry":
        this.#settings.set(verb, text);
        return [];
      default:
        this.#deeds.push([verb, written(text).replace("ELSEWHERE", this.#elsewhere.url)]);
        return [];
    }
  }

  async #post(): Promise<PostResult> {
    const onRequest = async (socket: Socket, request: string): Promise<void> => {
      this.#request = request.replace(/^host: .*$/m, "host: HOST");
      for (const deed of this.#deeds) {
        await answer(socket, ...deed);
      }
    };
    await using server = await startRawServer({ onRequest: (...sent) => void onRequest(...sent) });
    await using client = clientOf({ timeoutMs: this.#settings.has("hurry") ? 150 : 30_000 });
    const keep = this.#settings.get("keep")?.split(" ");
    return await client.post({
      ...{ url: server.url, headers: this.#headers },
      body: this.#settings.has("get") ? null : { query: "{ x }" },
      ...(keep === undefined ? {} : { keep }),
    });
  }
}

async function answer(socket: Socket, verb: string, text: string): Promise<void> {
  if (verb === "say") {
    socket.write(text, "latin1");
  } else if (verb === "end") {
    socket.end();
  } else if (verb === "reset") {
    // A reset throws away what is still on its way.
    await sleep(30);
    socket.resetAndDestroy();
  } else if (verb !== "drip") {
    throw new RangeError(`Cannot do ${verb}: test/STORIES.md has the verbs`);
  } else if (text === "on") {
    const timer = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => clearInterval(timer));
  } else {
    socket.setNoDelay(true);
    for (const byte of text) {
      await new Promise((resolve) => socket.write(byte, "latin1", resolve));
    }
  }
}

function written(text: string): string {
  return text
    .replaceAll("\\r", "\r")
    .replaceAll("\\n", "\n")
    .replace(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/(.)\{(\d+)\}/g, (_, char: string, count: string) => char.repeat(Number(count)));
}

function told(result: PostResult): string {
  if (result.kind === "failed") {
    return `failed ${result.reason}: ${result.detail}`;
  }
  const { httpStatus, retryAfter, body } = result.reply;
  return `replied ${httpStatus}${retryAfter === null ? "" : `, retry after ${retryAfter}`}: ${JSON.stringify(body)}`;
}
