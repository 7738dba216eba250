import { describe, expect, it } from "vitest";
import { failureOf } from "../../../src/io/http-client/failure.ts";

describe("failureOf()", () => {
  it("names the reason of each error of the system, of TLS and of HTTP, without its text", () => {
    const codes = {
      dns: "ENOTFOUND EAI_AGAIN",
      connect: "ECONNREFUSED ECONNRESET EPIPE EHOSTUNREACH ENETUNREACH EMFILE UND_ERR_SOCKET E_NEVER_SEEN",
      timeout: "ETIMEDOUT UND_ERR_CONNECT_TIMEOUT",
      tls: `CERT_HAS_EXPIRED CERT_NOT_YET_VALID DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN EPROTO ERR_OSSL_UNSUPPORTED
        UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER`,
      malformed: "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
      too_large: "UND_ERR_HEADERS_OVERFLOW",
    };

    const failures = Object.entries(codes).flatMap(([reason, ofReason]) =>
      ofReason.split(/\s+/).map((code) => {
        const error = Object.assign(new Error("long text with a secret"), { code });
        return { code, reason, failure: failureOf(error) };
      }),
    );

    expect(failures.filter(({ reason, failure }) => failure.reason !== reason)).toEqual([]);
    expect(JSON.stringify(failures)).not.toContain("secret");
  });

  it("takes the code of the cause, and of the first of several addresses", () => {
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

    expect(failureOf(new Error("outer", { cause: refused })).reason).toBe("connect");
    expect(failureOf(new AggregateError([refused])).reason).toBe("connect");
  });

  it.each([
    { what: "a bug", error: new TypeError("undefined is not a function") },
    { what: "a request that can't be sent", error: { code: "UND_ERR_INVALID_ARG" } },
    { what: "an invalid URL", error: { code: "ERR_INVALID_URL" } },
  ])("rethrows $what", ({ error: thrown }) => {
    const error = thrown instanceof Error ? thrown : Object.assign(new Error("x"), thrown);

    expect(() => failureOf(error)).toThrow(error);
  });
});
