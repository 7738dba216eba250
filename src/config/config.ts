import type { SecureVersion } from "node:tls";
import type { Fleet } from "../core/model/fleet.ts";
import type { Links, PublicView } from "../core/model/links.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import type { NotifyFormat, NotifyRules } from "../core/model/notify.ts";

/** How the daemon polls. Times in milliseconds, sizes in bytes. */
interface PollSettings {
  /** Maximum concurrent requests of the whole process. */
  readonly concurrency: number;
  readonly perHost: number;
  /** Deadline of a request: connect, headers and body together. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly maxResponseBytes: number;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** A value from outside the file, and how a shell refers to it: `$NAME` or `$(cat '/path')`. */
export interface Variable {
  readonly text: string;
  readonly shown: string;
}

/** A valid chains.yaml, with all templates filled and all secrets read. */
export interface Config {
  /** The path as the user gave it. */
  readonly file: string;
  readonly listen: ListenAddress;
  readonly poll: PollSettings;
  readonly fleet: Fleet;
  readonly maintenance: readonly MaintenanceWindow[];
  readonly links: Links;
  /** The public page; null: no public page. */
  readonly public: PublicView | null;
  /** Origins that may read the health routes and the public page; `*`: any origin. */
  readonly cors: readonly string[];
  /** The webhook that receives incidents. */
  readonly notify: NotifySettings | null;
  /** The dead man's switch. */
  readonly heartbeat: (Receiver & { readonly everyMs: number }) | null;
  /** Logged at the start and after a reload. */
  readonly warnings: readonly string[];
  /** Texts that must never leave the process: values of variables and files, keys in URLs and headers. */
  readonly secrets: readonly string[];
  /** The secrets that come from variables and files, longest first. */
  readonly variables: readonly Variable[];
}

/** A URL that receives messages. */
export interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The webhook and its rules. */
export interface NotifySettings extends Receiver, NotifyRules {
  readonly format: NotifyFormat;
  /** The URL of Synclag's own page; null: the address of its server. */
  readonly link: string | null;
  /** The chat to which Telegram posts; null in any other format. */
  readonly chatId: string | null;
}

/** The values of `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; empty if not set. */
export interface ProxySettings {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/** The store that replicas share, and the name of the fleet in it. */
export interface StoreSettings {
  readonly address: StoreAddress;
  /** `--cluster`. */
  readonly cluster: string;
}

/** The host and port of the store, and the user that logs in. */
export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  /** `rediss://`. */
  readonly isEncrypted: boolean;
  /** An ACL user; null for the default one. */
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
}

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
}

/** Where the server gets its web configuration. `current` follows the files. */
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
  readonly minVersion: SecureVersion;
}

/** Whether clients must present a certificate, and whether it is verified. */
export type ClientAuth = "none" | "request" | "require any" | "verify if given" | "require and verify";
