import type { SecureVersion } from "node:tls";

/** Security of the HTTP server: a valid web configuration, with its certificates read. */
export interface WebSettings {
  /** The path as the user gave it. */
  readonly file: string;
  /** Null: plain HTTP. */
  readonly tls: TlsSettings | null;
  /** Names, each with the bcrypt hash of its password. Empty: no authentication. */
  readonly users: ReadonlyMap<string, string>;
  /** Added to every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the file says `http2: true`. The server supports only HTTP/1.1, and a warning is logged. */
  readonly asksForHttp2: boolean;
  readonly rateLimit: RateLimit | null;
}

/** The web configuration as its files are now. */
export interface WebSettingsSource {
  readonly current: WebSettings;
}

/** Certificates and keys are PEM. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: string;
  /** Null: the certificate authorities that Node trusts. */
  readonly clientCa: string | null;
  readonly clientAuth: ClientAuth;
  /** A client's certificate must have one of these names; null: any name. */
  readonly clientAllowedSans: readonly string[] | null;
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  /** In OpenSSL's notation; null: Node's default. */
  readonly ciphers: string | null;
  readonly prefersServerCiphers: boolean;
  readonly curves: string | null;
}

/** Whether clients must present a certificate, and whether it is verified. */
export type ClientAuth = "none" | "request" | "require any" | "verify if given" | "require and verify";

/** A token bucket of `burst` requests, refilled with one each interval. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}
