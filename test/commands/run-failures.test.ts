import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check } from "../../src/commands/check.ts";
import { run } from "../../src/commands/run.ts";
import { commandWorld } from "../support/command-world.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const CHAINS_YAML = `version: 1
listen: 127.0.0.1:0
chains: { base: { id: 8453 } }
protocols:
  airdrops: [{ variant: multichain, url: "http://127.0.0.1:9/", chains: [base] }]
`;

describe("run() with a path that is no state file", () => {
  it.each([
    { what: "the configuration", state: "chains.yaml", says: "it is not a state file of Synclag" },
    { what: "a folder", state: ".", says: "it is a folder" },
    { what: "a FIFO", state: "fifo", says: "it is not a regular file" },
    { what: "a link to the configuration", state: "link", says: "it is not a state file of Synclag" },
    { what: "a link in a loop", state: "loop", says: "its links form a loop" },
    { what: "an empty path", state: null, says: "the path is empty" },
    { what: "a name too long", state: "x".repeat(300), says: "the name is too long" },
    { what: "a name too long for its lock", state: "x".repeat(252), says: "the name is too long" },
  ])("ends with 2 for $what, and leaves everything as it is", async ({ state, says }) => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);
    execFileSync("mkfifo", [join(folder.path, "fifo")]);
    symlinkSync("chains.yaml", join(folder.path, "link"));
    symlinkSync("loop", join(folder.path, "loop"));
    const before = readdirSync(folder.path);
    const { world, printed } = commandWorld({});

    const exitCode = await run(
      { config, state: state === null ? "" : join(folder.path, state), logLevel: "error" },
      world,
    );

    expect(printed.err).toEqual([expect.stringContaining(says)]);
    expect(exitCode).toBe(2);
    expect(readdirSync(folder.path)).toEqual(before);
    expect(readFileSync(config, "utf8")).toBe(CHAINS_YAML);
    expect(lstatSync(join(folder.path, "fifo")).isFIFO()).toBe(true);
  });
});

describe("run() with an address that cannot be listened on", () => {
  it.each([
    { listen: "[1:2:3]:0", exitCode: 2, says: 'Cannot listen on "[1:2:3]:0": expected HOST:PORT' },
    { listen: `${"a".repeat(70)}:0`, exitCode: 1, says: "the name cannot be resolved" },
  ])("ends with $exitCode for $listen", async ({ listen, exitCode, says }) => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);
    const { world, printed } = commandWorld({});

    const code = await run({ config, listen, logLevel: "error" }, world);

    expect(printed.err).toEqual([expect.stringContaining(says)]);
    expect(code).toBe(exitCode);
  });
});

describe("run() where another process listens", () => {
  it("ends with 1, and says so", async () => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { world, printed } = commandWorld({});

    const exitCode = await run({ config, listen: `127.0.0.1:${String(port)}`, logLevel: "error" }, world);

    other.close();
    expect(printed.err).toEqual([expect.stringContaining("another process listens there")]);
    expect(exitCode).toBe(1);
  });
});

describe("check() with a state file that cannot be read", () => {
  it.each([
    { what: "is no state file", state: "chains.yaml", says: "it is not a state file of Synclag" },
    { what: "is in no folder but a file", state: "chains.yaml/state.json", says: "ENOTDIR" },
  ])("ends with 3, unknown, where it $what", async ({ state, says }) => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);
    const { world, printed } = commandWorld({});

    const exitCode = await check([], { config, state: join(folder.path, state), format: "table" }, world);

    expect(printed.err).toEqual([expect.stringContaining(says)]);
    expect(exitCode).toBe(3);
  });
});
