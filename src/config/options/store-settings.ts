/** Which store, and which fleet's keys in it. */
export interface StoreSettings {
  readonly address: StoreAddress;
  /** `--cluster`. */
  readonly cluster: string;
}

/** Where the store is, and who we are there. */
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

/** For people: the address without user and password. */
export function storeName({ host, port, isEncrypted, database }: StoreAddress): string {
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return `${isEncrypted ? "rediss" : "redis"}://${shownHost}:${port}${database === 0 ? "" : `/${database}`}`;
}
