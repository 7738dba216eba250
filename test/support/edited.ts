/** A text after an `OLD => NEW` of a story, in which `\\n` is a line break. @throws {RangeError} If it lacks OLD. */
export function edited(text: string, change: string): string {
  const [old = "", next] = change.replaceAll("\\n", "\n").split(/ => ?/);
  if (next === undefined || !text.includes(old)) {
    throw new RangeError(`Cannot find ${old} to edit it`);
  }
  return text.replaceAll(old, () => next);
}
