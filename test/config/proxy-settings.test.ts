import { describe, expect, it } from "vitest";
import { readProxySettings } from "../../src/config/options.ts";

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

  it("refuses other values than http:// and https:// URLs by the variable's name, without the value", () => {
    const variables = {
      HTTPS_PROXY: "proxy:3128",
      HTTP_PROXY: "socks5://me:secret@proxy",
      https_proxy: "http://[",
    };

    const messages = Object.entries(variables).map(([name, value]) => messageOf({ [name]: value }));

    expect(messages).toEqual([
      "environment variable HTTPS_PROXY: invalid URL: found no scheme, expected http:// or https://",
      "environment variable HTTP_PROXY: invalid URL: found socks5://, expected http:// or https://",
      "environment variable https_proxy: invalid host, port or password in the URL, or a space; in a password write / ? # and @ as %2F %3F %23 and %40",
    ]);
  });
});

function messageOf(env: Readonly<Record<string, string>>): string {
  try {
    readProxySettings(env);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}
