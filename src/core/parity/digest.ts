const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const BITS = 64;

/** A short text that differs between different texts: FNV-1a of 64 bits over UTF-16 code units. No protection against forgery. */
export function digestOf(text: string): string {
  let digest = OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    digest = BigInt.asUintN(BITS, (digest ^ BigInt(text.charCodeAt(index))) * PRIME);
  }
  return digest.toString(36);
}
