import { describe, expect, it } from "vitest";
import { clientOf } from "../../support/client-of.ts";
import { startDeafServer } from "../../support/deaf-server.ts";
import { takeRefusingPort } from "../../support/raw-server.ts";

describe("createHttpClient() without a connection", () => {
  it("fails with connect where nobody listens", async () => {
    await using client = clientOf();

    const result = await client.post({
      url: `http://127.0.0.1:${await takeRefusingPort()}/`,
      headers: {},
      body: {},
    });

    expect(result).toMatchObject({
      kind: "failed",
      reason: "connect",
      detail: "the host refuses the connection",
    });
  });

  it("waits for a connection no longer than its deadline", async () => {
    await using deaf = await startDeafServer();
    await using client = clientOf({ timeoutMs: 200 });

    const result = await client.post({ url: `http://127.0.0.1:${deaf.port}/`, headers: {}, body: {} });

    expect(result).toMatchObject({
      kind: "failed",
      reason: "timeout",
      detail: "no complete answer within 0.2 s",
    });
  });

  // Refused by the resolver itself: no packet leaves.
  it.each([{ host: `${"a".repeat(64)}.invalid` }, { host: "a..b" }])(
    "fails with dns for a name that can't resolve: $host",
    async ({ host }) => {
      await using client = clientOf();

      const result = await client.post({ url: `http://${host}/`, headers: {}, body: {} });

      expect(result).toMatchObject({
        kind: "failed",
        reason: "dns",
        detail: "the host name does not resolve",
      });
    },
  );
});
