import { onchainTable, primaryKey } from "ponder";

export const seenBlock = onchainTable(
  "seen_block",
  (column) => ({
    chainId: column.integer().notNull(),
    number: column.bigint().notNull(),
    timestamp: column.bigint().notNull(),
  }),
  (table) => ({ id: primaryKey({ columns: [table.chainId, table.number] }) }),
);

/** How many events there were on a chain. */
export const tally = onchainTable("tally", (column) => ({
  chainId: column.integer().primaryKey(),
  events: column.integer().notNull(),
}));
