import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { z } from "zod";
import { freePort } from "./free-port.ts";
import { postJson } from "./loopback.ts";
import { startProgram } from "./program.ts";

/** A blockchain of its own, made by Foundry's Anvil: one block a second. */
export interface Anvil {
  readonly url: string;
  blockNumber(): Promise<number>;
}

const hexNumber = z.object({ result: z.string().regex(/^0x[0-9a-f]+$/) });

/**
 * Starts a chain that has `history` blocks already, one second apart, the last of this moment. Its package must be installed
 * already in tools/indexers/ponder.
 */
export async function startAnvil(chainId: number, history: number): Promise<Anvil> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const call = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    postJson(url, { jsonrpc: "2.0", id: 1, method, params });
  const genesisSec = Math.floor(Date.now() / 1000) - history;
  await startProgram({
    command: anvilBinary(),
    args: `--silent --no-mining --port ${port} --chain-id ${chainId} --timestamp ${genesisSec}`.split(" "),
  });
  await vi.waitFor(() => call("eth_chainId"), { timeout: 60_000, interval: 50 });
  await call("anvil_mine", `0x${history.toString(16)}`, "0x1");
  await call("evm_setIntervalMining", 1);
  return { url, blockNumber: async () => Number(hexNumber.parse(await call("eth_blockNumber")).result) };
}

/** The binary itself: the package's own command is a wrapper that a killed test would leave behind. */
function anvilBinary(): string {
  const wrapper = createRequire(new URL("../../../tools/indexers/ponder/package.json", import.meta.url));
  const own = createRequire(wrapper.resolve("@foundry-rs/anvil/package.json"));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  return fileURLToPath(new URL("bin/anvil", `file://${own.resolve(`${name}/package.json`)}`));
}
