import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHAINS_YAML } from "../support/command-world.ts";
import { type RespServer, startRespServer } from "../support/resp-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

describe("SYNCLAG_STORE together with --state, as in the image", () => {
  it.each(["run", "check"] as const)("makes %s use the store", async (command) => {
    await using files = await filesAndStore();
    const onSignal = (signal: string, stop: () => void) => signal === "SIGTERM" && setImmediate(stop);

    await runCommand([command, ...files.args], { env: files.env, world: { onSignal } });

    expect(files.server.commands.length).toBeGreaterThan(0);
  });

  it("means no store if it is empty", async () => {
    await using files = await filesAndStore();

    await runCommand(["check", ...files.args], { env: { SYNCLAG_STORE: "" } });

    expect(files.server.commands).toEqual([]);
  });
});

interface FilesAndStore extends AsyncDisposable {
  readonly args: readonly string[];
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
    args: ["--config", config, "--state", join(folder.path, "state.json")],
    env: { SYNCLAG_STORE: `redis://127.0.0.1:${server.address.port}` },
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
