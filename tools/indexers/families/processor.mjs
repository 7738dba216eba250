// A processor of SQD that keeps nothing and, at block STUCK_AT, never comes back from its handler.
import { EvmBatchProcessor } from "@subsquid/evm-processor";

const stuckAt = Number(process.env.STUCK_AT);
let head = { height: -1, hash: "0x" };

const database = {
  connect: async () => head,
  async transact({ nextHead }, handle) {
    await handle({});
    head = nextHead;
  },
};

new EvmBatchProcessor()
  .setRpcEndpoint(process.env.RPC_URL)
  .setFinalityConfirmation(1)
  .includeAllBlocks()
  .run(database, ({ blocks }) =>
    blocks.some(({ header }) => header.height >= stuckAt) ? new Promise(() => undefined) : Promise.resolve(),
  );
