import { createRequire } from "node:module";
import type * as Undici from "undici";

// What requests need of undici, by file: its main file loads fetch, WebSocket, caches and mocks as well, and Node's
// own copy of undici with them.
const load = createRequire(import.meta.url);

// The main file hands on these very objects under the names whose types are asserted here; a test compares them.

/** Keeps connections to every origin that is asked. */
export const Agent = load("undici/lib/dispatcher/agent.js") as typeof Undici.Agent;

/** What undici throws. */
export const errors = load("undici/lib/core/errors.js") as typeof Undici.errors;
