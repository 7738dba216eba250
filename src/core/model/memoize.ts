/**
 * The same function, which does its work once for each object: for what is asked again at every poll, of objects that
 * live as long as their configuration and never change.
 */
export function memoize<Key extends object, Value extends object | string>(
  work: (key: Key) => Value,
): (key: Key) => Value {
  const done = new WeakMap<Key, Value>();
  return (key) => {
    const known = done.get(key);
    if (known !== undefined) {
      return known;
    }
    const made = work(key);
    done.set(key, made);
    return made;
  };
}

/** The JSON of what is sent again and again. */
export const jsonOf: (value: object) => string = memoize((value) => JSON.stringify(value));
