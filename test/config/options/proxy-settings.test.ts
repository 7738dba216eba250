import { describe, expect, it } from "vitest";
import { readProxySettings } from "../../../src/config/options/proxy-settings.ts";

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

  it.each([
    { name: "HTTPS_PROXY", value: "proxy:3128", found: "no scheme" },
    { name: "HTTP_PROXY", value: "socks5://me:secret@proxy", found: "socks5:" },
    { name: "https_proxy", value: "http://[", found: "an invalid host, port or password" },
  ])("refuses $value without repeating it, and names the variable $name", ({ name, value, found }) => {
    expect(() => readProxySettings({ [name]: value })).toThrow(
      `environment variable ${name}: Cannot use this URL: expected http:// or https://, found ${found}`,
    );
  });
});
