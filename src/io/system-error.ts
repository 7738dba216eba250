/** Whether this is an error of the system, with one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Whether the system refused something, such as a read-only disk a write. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
