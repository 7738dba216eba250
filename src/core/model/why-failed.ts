const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "not a folder",
  EISDIR: "is a directory",
  EEXIST: "there is a file with this name, or with the name of its folder",
  EACCES: "permission denied",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
  EADDRINUSE: "another process uses this address",
  EADDRNOTAVAIL: "this machine does not have this address",
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the name server does not answer",
};
/** Node's own words, as in `EIO: i/o error, read`. */
const OF_NODE = /^(E[A-Z0-9]+): ([^,]+),/;

/** Why the operating system refused something: `no such file`, or Node's words with the code of the error where we have none. */
export function whyFailed(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const [, named, words] = OF_NODE.exec(error.message) ?? [];
  const code = "code" in error ? String(error.code) : (named ?? error.message);
  return WORDS[code] ?? (words === undefined ? code : `${words} (${code})`);
}

/** Why a file cannot be written. It need not exist, so its folder is missing if something is. */
export function whyUnwritable(error: unknown): string {
  const why = whyFailed(error);
  return why === WORDS["ENOENT"] ? "its folder does not exist" : why;
}
