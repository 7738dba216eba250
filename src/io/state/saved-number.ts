import { z } from "zod";
import { LATEST_MS } from "../../core/model/observation.ts";

// A file may hold any number. Code that uses the state relies on these bounds, for example when it writes an instant as a date.

/** Unix milliseconds. */
export const Time = z.number().positive().max(LATEST_MS);
/** Milliseconds between two instants. */
export const Span = z.number().nonnegative().max(LATEST_MS);
export const Count = z.int().nonnegative();
export const Block = z.int().positive();
