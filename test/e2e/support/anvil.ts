import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { z } from "zod";
import { freePort } from "./free-port.ts";
import { postJson } from "./loopback.ts";
import { type Program, startProgram } from "./program.ts";

/** A blockchain of its own, made by Foundry's Anvil: one block a second. */
export interface Anvil extends Program {
  readonly url: string;
  blockNumber(): Promise<number>;
  /** Makes so many blocks at once, one second apart in the chain's own time. */
  mine(blocks: number): Promise<void>;
  /** Makes one block a second from now on. */
  run(): Promise<void>;
}

export interface AnvilOptions {
  readonly chainId: number;
  /** How many blocks, one second apart, it has already when it starts; the last is of this moment. */
  readonly history: number;
  /** How many blocks it still lacks until this moment: `mine()` makes them, and none comes before `run()`. Default 0: it runs. */
  readonly missing?: number;
}

const hexNumber = z.object({ result: z.string().regex(/^0x[0-9a-f]+$/) });

/** Starts a chain. Its package must be installed already in test/e2e/ponder. */
export async function startAnvil({ chainId, history, missing = 0 }: AnvilOptions): Promise<Anvil> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const genesisSec = Math.floor(Date.now() / 1000) - history - missing;
  const program = await startProgram({
    command: anvilBinary(),
    args: `--silent --no-mining --port ${port} --chain-id ${chainId} --timestamp ${genesisSec}`.split(" "),
  });
  await vi.waitFor(() => call(url, "eth_chainId", []), { timeout: 60_000, interval: 50 });
  const mine = async (blocks: number): Promise<void> => {
    await call(url, "anvil_mine", [`0x${blocks.toString(16)}`, "0x1"]);
  };
  const run = async (): Promise<void> => {
    await call(url, "evm_setIntervalMining", [1]);
  };
  await mine(history);
  if (missing === 0) {
    await run();
  }

  return {
    ...program,
    url,
    mine,
    run,
    blockNumber: async () => Number(hexNumber.parse(await call(url, "eth_blockNumber", [])).result),
  };
}

/** The binary itself: the package's own command is a wrapper that a killed test would leave behind. */
function anvilBinary(): string {
  const wrapper = createRequire(new URL("../ponder/package.json", import.meta.url));
  const own = createRequire(wrapper.resolve("@foundry-rs/anvil/package.json"));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  return fileURLToPath(new URL("bin/anvil", `file://${own.resolve(`${name}/package.json`)}`));
}

function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  return postJson(url, { jsonrpc: "2.0", id: 1, method, params });
}
