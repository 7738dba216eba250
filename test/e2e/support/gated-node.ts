import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { undoLater } from "./undo.ts";

/** Stands between an indexer and a node, and keeps it from its past for as long as a test needs. */
export interface GatedNode {
  readonly url: string;
  /** From now on no block of that range is answered. */
  shut(): void;
  /** Everything is answered, what was held back first. */
  open(): void;
}

/** An indexer's question, as far as the gate reads it. */
const requestSchema = z.object({ method: z.string(), params: z.array(z.unknown()).default([]) });

/** Starts open. `past`: the blocks that it may hold back, both included. */
export async function startGatedNode(
  nodeUrl: string,
  past: { readonly from: number; readonly to: number },
): Promise<GatedNode> {
  let isShut = false;
  const held: (() => void)[] = [];
  const isPast = (block: unknown): boolean => Number(block) >= past.from && Number(block) <= past.to;

  async function answer(body: string): Promise<string> {
    const { method, params } = requestSchema.parse(JSON.parse(body));
    if (isShut && method === "eth_getBlockByNumber" && isPast(params[0])) {
      await new Promise<void>((resolve) => held.push(resolve));
    }
    const headers = { "content-type": "application/json" };
    const response = await fetch(nodeUrl, { method: "POST", headers, body });
    return await response.text();
  }

  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    text(request)
      .then(answer)
      .then(
        (said) => response.end(said),
        // The node is down, or who asked is: as if nothing stood between them.
        () => response.destroy(),
      );
  });
  return {
    url: await listen(server),
    shut: () => {
      isShut = true;
    },
    open: () => {
      isShut = false;
      for (const release of held.splice(0)) {
        release();
      }
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  undoLater(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error(`Cannot start a gated node: its address is ${String(address)}`);
  }
  return `http://127.0.0.1:${address.port}`;
}
