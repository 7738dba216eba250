import { describe, expect, it } from "vitest";
import { readProxySettings } from "../../../src/io/http-client/proxy-settings.ts";

describe("readProxySettings()", () => {
  it("is null without a proxy", () => {
    expect(readProxySettings({ NO_PROXY: "example.com" })).toBeNull();
  });

  it("prefers the names in lower case", () => {
    const env = { HTTPS_PROXY: "http://upper:1", https_proxy: "http://lower:1", NO_PROXY: "example.com" };

    expect(readProxySettings(env)).toEqual({
      httpProxy: "",
      httpsProxy: "http://lower:1",
      noProxy: "example.com",
    });
  });

  it.each(["proxy:3128", "socks5://me:secret@proxy", "http://["])(
    "refuses %s without repeating it",
    (value) => {
      expect(() => readProxySettings({ HTTPS_PROXY: value })).toThrow(
        "HTTPS_PROXY:1:1: (file): Cannot use this proxy: expected an http:// or https:// URL",
      );
    },
  );
});
