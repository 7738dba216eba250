const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "not a folder",
  EISDIR: "is a directory",
  EEXIST: "there is a file with this name, or with the name of its folder",
  EACCES: "permission denied",
};

/** Why a file cannot be read or written: `no such file`, or the code of the error where we have no words for it. */
export function whyUnreadable(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const code = "code" in error ? String(error.code) : error.message;
  return WORDS[code] ?? code;
}
