import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDaemonAddress } from "../../src/commands/daemon-address.ts";
import { commandWorld } from "../support/command-world.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NO_PASSWORD = { authorization: null };

describe("readDaemonAddress()", () => {
  it.each([
    { written: "http://127.0.0.1:9855", url: "http://127.0.0.1:9855", ...NO_PASSWORD },
    { written: "http://127.0.0.1:9855/", url: "http://127.0.0.1:9855", ...NO_PASSWORD },
    { written: "http://[::1]:9855", url: "http://[::1]:9855", ...NO_PASSWORD },
    { written: "https://ops.example/synclag/", url: "https://ops.example/synclag", ...NO_PASSWORD },
    { written: "https://a:b@h", url: "https://h", authorization: "a:b" },
    { written: "https://a:b%20c@h", url: "https://h", authorization: "a:b c" },
    // Not what a URL can hold, but nothing that ends the program either.
    { written: "https://a:50%@h", url: "https://h", authorization: "a:50%" },
    { written: `https://a:\${PASSWORD}@h`, url: "https://h", authorization: "a:p@ss/w:ord%" },
  ])("reads $written", ({ written, url, authorization }) => {
    const { world } = commandWorld({ PASSWORD: "p@ss/w:ord%" });

    const address = readDaemonAddress(written, world);

    expect(address).toEqual({
      kind: "address",
      url,
      authorization: authorization === null ? null : `Basic ${Buffer.from(authorization).toString("base64")}`,
    });
  });

  it("reads a password from a file", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "password");
    await writeFile(file, "open sesame\n");

    const address = readDaemonAddress(`https://alice:\${file:${file}}@h`, commandWorld({}).world);

    expect(address).toMatchObject({
      authorization: `Basic ${Buffer.from("alice:open sesame").toString("base64")}`,
    });
  });

  it.each([
    { written: "here", message: "Cannot use this URL: expected http:// or https://, found no scheme" },
    { written: "ftp://alice:hunter2@h", message: "found ftp:" },
    { written: `https://alice:\${NOBODY}@h`, message: "Cannot resolve this value: NOBODY is not set" },
    {
      written: `https://alice:\${file:/no/such}@h`,
      message: "Cannot read /no/such: ENOENT",
    },
    { written: "https://{host}", message: `Cannot use {host}: expected \${VARIABLE} or \${file:/path}` },
    { written: `https://\${HOST`, message: "Cannot parse braces" },
  ])("says what is wrong with $written", ({ written, message }) => {
    expect(readDaemonAddress(written, commandWorld({}).world)).toEqual({
      kind: "unusable",
      message: expect.stringContaining(message),
    });
  });

  it("keeps what it was given secret", () => {
    const kept: string[] = [];
    const { world } = commandWorld({ PASSWORD: "open sesame" });

    readDaemonAddress(`https://alice:\${PASSWORD}@h`, {
      ...world,
      keepSecret: (texts) => kept.push(...texts),
    });

    expect(kept).toEqual(expect.arrayContaining(["open sesame", "open%20sesame"]));
  });
});
