import { writeSync } from "node:fs";
import { NOTHING_SPENT } from "../../src/budgets/saved-budgets.ts";
import { loadState, writeStateFile } from "../../src/io/state/file.ts";
import { lockStateFile } from "../../src/io/state/lock.ts";
import { DebouncedWriter } from "../../src/io/state/writer.ts";
import { recordLog } from "./log-recorder.ts";

/**
 * A process of its own that counts up in the state file named by its first argument, as fast as the disk allows, and
 * prints each count once it is recorded. It ends by being killed.
 */
const [path = "", heartbeatMs = ""] = process.argv.slice(2);

await using lock = await lockStateFile(path, {
  nowMs: () => Date.now(),
  onLockLost: () => process.exit(3),
  heartbeatMs: Number(heartbeatMs),
});
const { questions } = await loadState(path, { logger: recordLog().logger, nowMs: Date.now });
const MANY = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [index.toString(), 0]));
let count = questions["count"] ?? 0;
await using saver = new DebouncedWriter({
  delayMs: 1_000,
  write: async () => {
    const state = {
      savedAtMs: Date.now(),
      chains: {},
      incidents: [],
      budgets: NOTHING_SPENT,
      questions: { ...MANY, count },
      notified: [],
    };
    await lock.assertHeld();
    await writeStateFile(path, state);
  },
  onFailure: () => undefined,
  onRecovery: () => undefined,
});

for (;;) {
  count += 1;
  await saver.flush();
  // The output has no buffer: a printed count was recorded before, whenever the process dies.
  writeSync(1, `${count}\n`);
}
