import { ponder } from "ponder:registry";
import { seenBlock } from "ponder:schema";

ponder.on("EveryBlock:block", async ({ event, context }) => {
  const { number, timestamp } = event.block;
  await context.db.insert(seenBlock).values({ chainId: context.chain.id, number, timestamp });
});
