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
