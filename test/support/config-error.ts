import { ConfigError } from "../../src/config/problems.ts";

/** The message of the `ConfigError` that the action throws; empty if it throws nothing. Any other error passes through. */
export function configErrorOf(run: () => unknown): string {
  try {
    run();
    return "";
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.message;
    }
    throw error;
  }
}
