/** Whether this is an error with one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Whether the operating system refused something, such as a write to a read-only disk. */
export function isSystemError(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}

/**
 * The result of an operation; null if it failed with one of these codes or, without codes, if the operating system refused it.
 */
export async function orNull<T>(work: Promise<T>, ...codes: readonly string[]): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codes.length === 0 ? isSystemError(error) : hasCode(error, ...codes)) {
      return null;
    }
    throw error;
  }
}
