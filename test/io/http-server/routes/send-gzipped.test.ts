import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HttpServerOptions } from "../../../../src/io/http-server/server.ts";
import { METRICS, serve } from "../../../support/served.ts";

/** Far more than what a socket takes at once. */
const LARGE = "synclag_up 1\n".repeat(1_000_000);

describe("sendGzipped()", () => {
  it("sends the bytes as they are to a client that accepts gzip, and plain text to any other", async () => {
    await using server = await serve();
    const gzip = ["gzip", "gzip, deflate, br", "br;q=1.0, GZIP;q=0.5", "deflate,gzip ; q=0.001"];
    const plain = [undefined, "", "identity", "br", "gzip;q=0", "deflate, gzip; q=0.00", "x-gzip-not"];

    const answers = await Promise.all(
      [...gzip, ...plain].map(async (accepted) => {
        const { response, body } = await fetchRaw(`${server.url}/metrics`, accepted);
        return { accepted, coding: response.headers["content-encoding"], vary: response.headers.vary, body };
      }),
    );

    expect(answers).toEqual([
      ...gzip.map((accepted) => ({
        accepted,
        coding: "gzip",
        vary: "accept-encoding",
        body: METRICS.gzipped,
      })),
      ...plain.map((accepted) => ({
        accepted,
        coding: undefined,
        vary: "accept-encoding",
        body: Buffer.from(METRICS.body),
      })),
    ]);
  });

  it.each(["gzip", "identity"])("sends a large text whole to who accepts %j", async (accepted) => {
    await using server = await serveLarge();

    const { response, body } = await fetchRaw(`${server.url}/metrics`, accepted);

    const text = response.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    expect(text.toString() === LARGE).toBe(true);
  });

  it("continues for the other clients when one disconnects in the middle", async () => {
    await using server = await serveLarge();
    const asked = get(`${server.url}/metrics`);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    await once(response, "data");

    response.destroy();

    const { body } = await fetchRaw(`${server.url}/metrics`);
    expect(body).toHaveLength(LARGE.length);
  });
});

async function fetchRaw(url: string, accepted?: string) {
  const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
  const [response] = (await once(get(url, { headers }), "response")) as [IncomingMessage];
  return { response, body: await buffer(response) };
}

function serveLarge(options: HttpServerOptions = {}) {
  const gzipped = gzipSync(LARGE);
  return serve({ metrics: () => Promise.resolve({ contentType: METRICS.contentType, gzipped }) }, options);
}
