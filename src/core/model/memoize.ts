/** Caches the results of a function by the identity of its argument: for objects that never change. */
export function memoize<Key extends object, Value extends object | string | number | null>(
  work: (key: Key) => Value,
): (key: Key) => Value {
  const done = new WeakMap<Key, Value>();
  return (key) => {
    const known = done.get(key);
    if (known !== undefined) {
      return known;
    }
    const result = work(key);
    done.set(key, result);
    return result;
  };
}

/** `JSON.stringify`, cached by object: for bodies that every poll sends again. */
export const jsonOf: (value: object) => string = memoize((value) => JSON.stringify(value));
