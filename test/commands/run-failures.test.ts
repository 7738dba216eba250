import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAINS_YAML } from "../support/command-world.ts";
import { serve } from "../support/listener.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

describe("synclag run with a path that is no state file", () => {
  it("ends with 2, says why, and leaves everything as it is", async () => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);
    execFileSync("mkfifo", [join(folder.path, "fifo")]);
    symlinkSync("chains.yaml", join(folder.path, "link"));
    const before = readdirSync(folder.path);
    const reasons = {
      [config]: "it is not a state file of Synclag",
      [folder.path]: "it is a folder",
      [join(folder.path, "fifo")]: "it is not a regular file",
      [join(folder.path, "link")]: "it is not a state file of Synclag",
      "": "the path is empty",
    };

    for (const [state, reason] of Object.entries(reasons)) {
      expect(await runDaemon({ config, state })).toEqual([2, expect.stringContaining(reason)]);
    }

    expect(readdirSync(folder.path)).toEqual(before);
    expect(readFileSync(config, "utf8")).toBe(CHAINS_YAML);
    expect(lstatSync(join(folder.path, "fifo")).isFIFO()).toBe(true);
  });
});

describe("synclag run with an address that cannot be listened on", () => {
  it("exits with 1 if the host name is unknown or another process listens", async () => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);
    await using other = await serve(() => undefined);

    const results = [
      await runDaemon({ config, listen: `${"a".repeat(70)}:0` }),
      await runDaemon({ config, listen: `127.0.0.1:${other.port}` }),
    ];

    expect(results).toEqual([
      [1, expect.stringContaining("getaddrinfo")],
      [1, expect.stringContaining("EADDRINUSE")],
    ]);
  });
});

describe("synclag check with a state file that cannot be read", () => {
  it("ends with 3, unknown", async () => {
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    writeFileSync(config, CHAINS_YAML);

    const { exitCode, err } = await runCommand(["check", "--config", config, "--state", config]);

    expect([exitCode, err]).toEqual([3, expect.stringContaining("it is not a state file of Synclag")]);
  });
});

/** The exit code, and what was printed. */
async function runDaemon(flags: Readonly<Record<string, string>>): Promise<readonly [number, string]> {
  const options = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const { exitCode, err } = await runCommand(["run", "--log-level", "error", ...options]);
  return [exitCode, err];
}
