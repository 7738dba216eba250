import { Token } from "generated";

Token.Transfer.handler(async ({ event, context }) => {
  context.Transfer.set({ id: String(event.block.number) });
});
