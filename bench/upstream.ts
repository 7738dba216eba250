import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

/** An indexer in a process of its own. */
export interface Upstream extends AsyncDisposable {
  readonly url: string;
  /** When requests came in each period of this length since the last call. One call at a time. */
  readonly rounds: (periodMs: number) => Promise<readonly Round[]>;
}

/** When the first and the last request of a period came, in milliseconds after it began. */
type Round = z.infer<typeof roundSchema>;

const roundSchema = z.object({ firstMs: z.number(), lastMs: z.number() });

/** Starts the indexer that a large fleet polls. */
export async function startUpstream(): Promise<Upstream> {
  const script = join(import.meta.dirname, "upstream-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  const next = async (): Promise<unknown> => JSON.parse(((await once(lines, "line")) as [string])[0]);
  return {
    url: `http://127.0.0.1:${z.int().parse(await next())}`,
    async rounds(periodMs) {
      const answer = next();
      child.stdin.write(`${periodMs}\n`);
      return z.array(roundSchema).parse(await answer);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
