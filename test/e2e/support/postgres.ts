import { chown, readdir } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import { freePort } from "./free-port.ts";
import { startProgram, succeed } from "./program.ts";
import { temporaryFolder } from "./undo.ts";

/** A PostgreSQL server of its own on loopback, with one user and one database. */
export interface Postgres {
  readonly port: number;
  /** Where it is, as the indexers read it. */
  readonly env: Readonly<Record<"DB_HOST" | "DB_PORT" | "DB_USER" | "DB_PASS", string>>;
  /** Runs statements to their end, and returns their rows as text. Throws with the server's words when one fails. */
  run(sql: string): Promise<string>;
  /** Runs statements that never end, under a name, until `end()` of that name. */
  start(name: string, sql: string): Promise<void>;
  end(name: string): Promise<void>;
}

export const DATABASE = { user: "synclag", name: "postgres" } as const;

/** As root it runs as nobody, because PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const DEBIAN_FOLDER = "/usr/lib/postgresql";
const READY_WITHIN = { timeout: 30_000, interval: 100 };

/** Creates a cluster in a temporary folder and starts its server; nothing of an installed cluster is touched. */
export async function startPostgres(): Promise<Postgres> {
  const folder = await temporaryFolder("postgres");
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    await chown(folder, NOBODY, NOBODY);
  }
  const binaries = await findBinaries();
  const data = join(folder, "data");
  const asUser = (program: string, args: readonly string[]) => {
    const command = join(binaries, program);
    const drop = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", command, ...args];
    return { ...(isRoot ? { command: "setpriv", args: drop } : { command, args }), cwd: folder };
  };

  const options = ["--no-sync", "--no-locale", "--auth", "trust", "--username", DATABASE.user];
  await succeed(asUser("initdb", [...options, "--encoding", "UTF8", data]));
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  await startProgram(
    asUser("postgres", ["-D", data, "-p", String(port), ...settings.flatMap((one) => ["-c", one])]),
  );

  const client = (sql: string, name = "test") => ({
    command: "psql",
    args: ["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1"],
    env: {
      PGHOST: "127.0.0.1",
      PGPORT: String(port),
      PGUSER: DATABASE.user,
      PGDATABASE: DATABASE.name,
      PGAPPNAME: name,
    },
    input: sql,
  });
  const run = (sql: string): Promise<string> => succeed(client(sql));
  await vi.waitFor(() => run("SELECT 1;"), READY_WITHIN);
  return {
    port,
    env: { DB_HOST: "127.0.0.1", DB_PORT: String(port), DB_USER: DATABASE.user, DB_PASS: "none" },
    run,
    start: async (name, sql) => void (await startProgram(client(sql, name))),
    end: async (name) =>
      void (await run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}';`,
      )),
  };
}

/** Where the server's programs are: Debian keeps them off the PATH, in a folder for each version. */
async function findBinaries(): Promise<string> {
  const versions = await readdir(DEBIAN_FOLDER).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) {
    throw new Error("Cannot start postgres: it is not installed (Debian package postgresql)");
  }
  return join(DEBIAN_FOLDER, newest, "bin");
}
