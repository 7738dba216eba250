import { ponder } from "ponder:registry";
import { seenBlock, tally } from "ponder:schema";

/** Every block whose number this divides has an event. */
const BLOCKS_PER_EVENT = 50n;

/** The block whose event this indexer skips, as a test tells it; none by default. */
const SKIPPED_BLOCK = BigInt(String(process.env["SKIPPED_BLOCK"] ?? "0"));

ponder.on("EveryBlock:block", async ({ event, context }) => {
  const { number, timestamp } = event.block;
  const chainId = context.chain.id;
  await context.db.insert(seenBlock).values({ chainId, number, timestamp });
  if (number % BLOCKS_PER_EVENT === 0n && number !== SKIPPED_BLOCK) {
    await context.db
      .insert(tally)
      .values({ chainId, events: 1 })
      .onConflictDoUpdate(({ events }) => ({ events: events + 1 }));
  }
});
