import { setTimeout as sleep } from "node:timers/promises";
import type { MeasuredProcess } from "./measured-process.ts";

const LOOK_MS = 20;

/** What the module with `tellWhenAsked` in a Node process says now. One call at a time. */
export async function askModule({ pid, stderr, hasEnded }: MeasuredProcess): Promise<unknown> {
  const before = lastLine(stderr())?.number ?? 0;
  process.kill(pid, "SIGUSR2");
  for (;;) {
    const line = lastLine(stderr());
    if (line !== null && line.number > before) {
      return JSON.parse(line.json);
    }
    if (hasEnded()) {
      throw new Error(`Cannot measure what has ended: ${stderr()}`);
    }
    await sleep(LOOK_MS);
  }
}

/** Only the end of what a program writes is kept: lines have numbers, and cannot be counted. */
function lastLine(text: string): { readonly number: number; readonly json: string } | null {
  const [, number, json] = [...text.matchAll(/^told (\d+) (\{.*\})\n/gm)].at(-1) ?? [];
  return json === undefined ? null : { number: Number(number), json };
}
