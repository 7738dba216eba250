import { lookup } from "node:dns/promises";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../src/io/http-client/failure.ts";

describe("failureOf()", () => {
  it.each([
    { code: "ENOTFOUND", reason: "dns" },
    { code: "EAI_AGAIN", reason: "dns" },
    { code: "ECONNREFUSED", reason: "connect" },
    { code: "ECONNRESET", reason: "connect" },
    { code: "EPIPE", reason: "connect" },
    { code: "EHOSTUNREACH", reason: "connect" },
    { code: "ENETUNREACH", reason: "connect" },
    { code: "EMFILE", reason: "connect" },
    { code: "UND_ERR_SOCKET", reason: "connect" },
    { code: "ETIMEDOUT", reason: "timeout" },
    { code: "UND_ERR_CONNECT_TIMEOUT", reason: "timeout" },
    { code: "CERT_HAS_EXPIRED", reason: "tls" },
    { code: "CERT_NOT_YET_VALID", reason: "tls" },
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT", reason: "tls" },
    { code: "SELF_SIGNED_CERT_IN_CHAIN", reason: "tls" },
    { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", reason: "tls" },
    { code: "ERR_TLS_CERT_ALTNAME_INVALID", reason: "tls" },
    { code: "ERR_SSL_WRONG_VERSION_NUMBER", reason: "tls" },
    { code: "ERR_OSSL_UNSUPPORTED", reason: "tls" },
    { code: "EPROTO", reason: "tls" },
    { code: "UND_ERR_RES_CONTENT_LENGTH_MISMATCH", reason: "malformed" },
    { code: "UND_ERR_HEADERS_OVERFLOW", reason: "too_large" },
    { code: "E_NEVER_SEEN", reason: "connect" },
  ])("calls $code $reason", ({ code, reason }) => {
    const failure = failureOf(Object.assign(new Error("long text with a secret"), { code }), null, 1);

    expect(failure.reason).toBe(reason);
    expect(failure.detail).not.toContain("secret");
  });

  it("knows a name that does not resolve from the real error", async () => {
    const error = await lookup("a..b").catch((thrown: unknown) => thrown);

    expect(failureOf(error, null, 1)).toEqual({ reason: "dns", detail: "the host name does not resolve" });
  });

  it("takes the code of the cause, and of the first of several addresses", () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

    expect(failureOf(new Error("outer", { cause: refused }), null, 1).reason).toBe("connect");
    expect(failureOf(new AggregateError([refused]), null, 1).reason).toBe("connect");
  });

  it.each([
    {
      cutOff: "deadline" as const,
      expected: { reason: "timeout", detail: "no complete answer within 2.5 s" },
    },
    { cutOff: "shutdown" as const, expected: { reason: "aborted", detail: "cut off by shutdown or reload" } },
  ])("takes whatever comes of a $cutOff for that", ({ cutOff, expected }) => {
    const error = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });

    expect(failureOf(error, cutOff, 2_500)).toEqual(expected);
  });

  it.each([
    { what: "a bug", error: new TypeError("undefined is not a function") },
    {
      what: "a request that can't be sent",
      error: Object.assign(new Error("x"), { code: "UND_ERR_INVALID_ARG" }),
    },
    { what: "a URL that is none", error: Object.assign(new Error("x"), { code: "ERR_INVALID_URL" }) },
  ])("throws $what on", ({ error }) => {
    expect(() => failureOf(error, null, 1)).toThrow(error);
  });
});
