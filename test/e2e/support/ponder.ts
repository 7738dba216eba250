import { fileURLToPath } from "node:url";
import { type Program, startProgram } from "./program.ts";

const FOLDER = fileURLToPath(new URL("../ponder", import.meta.url));

/** Where a Ponder listens, what it indexes, and where it keeps its database. */
export interface PonderOptions {
  readonly port: number;
  readonly alphaRpcUrl: string;
  readonly betaRpcUrl: string;
  readonly databaseDirectory: string;
  /** The block whose event it skips; left out, it skips none. */
  readonly skippedBlock?: number;
}

/** Starts the indexer in test/e2e/ponder; it answers GraphQL some seconds later. */
export function startPonder(options: PonderOptions): Promise<Program> {
  return startProgram({
    command: process.execPath,
    args: `node_modules/ponder/dist/esm/bin/ponder.js start --schema e2e --hostname 127.0.0.1 --port ${options.port}`.split(
      " ",
    ),
    cwd: FOLDER,
    env: {
      PONDER_TELEMETRY_DISABLED: "1",
      ALPHA_RPC_URL: options.alphaRpcUrl,
      BETA_RPC_URL: options.betaRpcUrl,
      PONDER_DATABASE_DIRECTORY: options.databaseDirectory,
      SKIPPED_BLOCK: String(options.skippedBlock ?? 0),
    },
  });
}
