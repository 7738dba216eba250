import { createServer } from "node:net";
import type { StoreAddress } from "../../src/config/config.ts";
import { type Listener, listen } from "./listener.ts";

/** The reply to a command, in RESP as it is sent; null: the server never replies. */
export type RespReply = (command: readonly string[]) => string | null;

/** A server with the Redis protocol and the replies of a test. */
export interface RespServer extends AsyncDisposable, Pick<Listener, "hangUp"> {
  readonly address: StoreAddress;
  /** The commands received so far. */
  readonly commands: readonly (readonly string[])[];
}

/** Serves on loopback. */
export async function startRespServer(reply: RespReply): Promise<RespServer> {
  const commands: (readonly string[])[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    let pending = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const { parsed, rest } = parseCommands(pending + text);
      pending = rest;
      for (const command of parsed) {
        commands.push(command);
        const answer = reply(command);
        if (answer !== null) {
          socket.write(answer);
        }
      }
    });
  });
  const { port, ...listener } = await listen(server);
  return {
    ...listener,
    address: { host: "127.0.0.1", port, isEncrypted: false, username: null, password: null, database: 0 },
    commands,
  };
}

/** Parses what clients send: arrays of bulk strings in ASCII. */
function parseCommands(text: string): { readonly parsed: readonly string[][]; readonly rest: string } {
  const parsed: string[][] = [];
  let rest = text;
  for (let next = parseCommand(rest); next !== null; next = parseCommand(rest)) {
    parsed.push(next.words);
    rest = rest.slice(next.length);
  }
  return { parsed, rest };
}

/** Null if it is not complete yet. */
function parseCommand(text: string): { readonly words: string[]; readonly length: number } | null {
  const head = /^\*(\d+)\r\n/.exec(text);
  const words: string[] = [];
  let at = head?.[0].length ?? 0;
  for (let count = Number(head?.[1]); count > 0; count -= 1) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at));
    const from = at + (size?.[0].length ?? 0);
    at = from + Number(size?.[1]) + 2;
    if (size === null || text.length < at) {
      return null;
    }
    words.push(text.slice(from, at - 2));
  }
  return head === null ? null : { words, length: at };
}
