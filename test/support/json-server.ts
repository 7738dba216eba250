import { createServer } from "node:http";

/** A server on loopback that answers every POST with this JSON; `asked` counts the requests. */
export async function serveJson(
  answer: (body: unknown) => unknown,
): Promise<{ readonly url: string; readonly asked: () => number } & AsyncDisposable> {
  let asked = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked += 1;
      response.end(JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString()))));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("The server has no port");
  }
  return {
    url: `http://127.0.0.1:${address.port}/`,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
