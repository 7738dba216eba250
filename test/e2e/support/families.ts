import { fileURLToPath } from "node:url";
import { POSTGRES_DATABASE, POSTGRES_USER } from "./postgres.ts";
import { type Program, startProgram } from "./program.ts";

const FOLDER = fileURLToPath(new URL("../families", import.meta.url));

/** Where a server listens, and the port of its database. */
export interface ServerOptions {
  readonly port: number;
  readonly databasePort: number;
}

/** Starts SQD's GraphQL server on `squid_processor.status`; it answers some seconds later. */
export function startSquidServer({ port, databasePort }: ServerOptions): Promise<Program> {
  return startProgram({
    command: process.execPath,
    args: ["node_modules/@subsquid/graphql-server/bin/run.js"],
    cwd: FOLDER,
    env: { ...database(databasePort), DB_NAME: POSTGRES_DATABASE, GQL_PORT: String(port) },
  });
}

/** Starts SubQuery's query service on the schema `app`; it answers some seconds later. */
export function startSubqueryService({ port, databasePort }: ServerOptions): Promise<Program> {
  return startProgram({
    command: process.execPath,
    args: ["node_modules/@subql/query/bin/run", "--name", "app", "--port", String(port)],
    cwd: FOLDER,
    // It would ask a package registry for updates of itself.
    env: { ...database(databasePort), DB_DATABASE: POSTGRES_DATABASE, NO_UPDATE_NOTIFIER: "1" },
  });
}

function database(port: number): Readonly<Record<string, string>> {
  return { DB_HOST: "127.0.0.1", DB_PORT: String(port), DB_USER: POSTGRES_USER, DB_PASS: "none" };
}
