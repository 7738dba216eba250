/** Whether this is an error with one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Whether the operating system refused something, such as a write to a read-only disk. */
export function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
