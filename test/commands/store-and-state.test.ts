import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check } from "../../src/commands/check.ts";
import { run } from "../../src/commands/run.ts";
import { CHAINS_YAML, commandWorld } from "../support/command-world.ts";
import { type RespServer, startRespServer } from "../support/resp-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("SYNCLAG_STORE together with --state, as in the image", () => {
  it.each(["run", "check"] as const)("makes %s use the store", async (command) => {
    await using files = await filesAndStore();
    const { world } = commandWorld(files.env);
    const stopping = {
      ...world,
      onSignal: (signal: string, stop: () => void) => signal === "SIGTERM" && setImmediate(stop),
    };

    await (command === "run"
      ? run({ ...files.flags, logLevel: "info" }, stopping)
      : check([], { ...files.flags, format: "table" }, world));

    expect(files.server.commands.length).toBeGreaterThan(0);
  });

  it("means no store if it is empty", async () => {
    await using files = await filesAndStore();
    const { world } = commandWorld({ SYNCLAG_STORE: "" });

    await check([], { ...files.flags, format: "table" }, world);

    expect(files.server.commands).toEqual([]);
  });
});

interface FilesAndStore extends AsyncDisposable {
  readonly flags: { readonly config: string; readonly state: string };
  readonly env: Readonly<Record<string, string>>;
  readonly server: RespServer;
}

async function filesAndStore(): Promise<FilesAndStore> {
  const folder = await temporaryFolder();
  const config = join(folder.path, "chains.yaml");
  writeFileSync(config, CHAINS_YAML);
  const server = await startRespServer(([name]) =>
    name === "EVALSHA" ? "-ERR no script of a test\r\n" : "+OK\r\n",
  );
  return {
    flags: { config, state: join(folder.path, "state.json") },
    env: { SYNCLAG_STORE: `redis://127.0.0.1:${server.address.port}` },
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
