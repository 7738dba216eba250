import type { SecureVersion } from "node:tls";

/** How our own HTTP server is guarded: a valid web configuration, with its certificates read. */
export interface WebSettings {
  /** The path as the user gave it. */
  readonly file: string;
  /** Null: plain HTTP. */
  readonly tls: TlsSettings | null;
  /** Names, each with the bcrypt hash of its password. Empty: nobody is asked. */
  readonly users: ReadonlyMap<string, string>;
  /** Added to every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The file says `http2: true`. The server speaks HTTP/1.1 only, and the log says so. */
  readonly asksForHttp2: boolean;
  readonly rateLimit: RateLimit | null;
}

/** The web configuration as its files are now. */
export interface WebSettingsSource {
  readonly current: WebSettings;
}

/** Texts are PEM. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: string;
  /** Null: the authorities that Node trusts. */
  readonly clientCa: string | null;
  readonly clientAuth: ClientAuth;
  /** Names of which a client's certificate must have one; null: whatever it names will do. */
  readonly clientAllowedSans: readonly string[] | null;
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  /** As OpenSSL writes them; null: Node's own choice. */
  readonly ciphers: string | null;
  readonly prefersServerCiphers: boolean;
  readonly curves: string | null;
}

/** Whether a client must show a certificate, and whether it must be a good one. */
export type ClientAuth = "none" | "request" | "require any" | "verify if given" | "require and verify";

/** A bucket of `burst` requests, into which one more drops each interval. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}
