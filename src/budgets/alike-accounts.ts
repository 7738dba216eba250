import { groupBy } from "../core/model/group-by.ts";

/** Purses on which the same schedules draw: what holds of one holds of all. */
export interface AlikeAccounts<User> {
  /** Who draws on one of them: their requests add up. */
  readonly sharers: readonly User[];
  /** Who draws on any of them. */
  readonly users: readonly User[];
}

/** Puts purses together that are drawn on alike, since to add up a schedule's requests takes a moment. */
export function alikeAccounts<User extends { readonly schedule: string }>(
  users: readonly User[],
  purseOf: (user: User) => string,
): readonly AlikeAccounts<User>[] {
  const purses = [...groupBy(users, purseOf).values()];
  const alike = groupBy(purses, (sharers) =>
    sharers
      .map(({ schedule }) => schedule)
      .toSorted()
      .join("\n"),
  );
  return [...alike.values()].map((likes) => ({ sharers: likes[0] ?? [], users: likes.flat() }));
}
