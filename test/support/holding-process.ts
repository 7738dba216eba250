import { lockStateFile } from "../../src/io/state/lock.ts";

/** A process of its own that holds a state file and says that it serves at a URL. It ends by being killed. */
const [path = "", url = ""] = process.argv.slice(2);

const lock = await lockStateFile(path, {
  url: "",
  nowMs: () => Date.now(),
  onLockLost: () => process.exit(3),
});
await lock.publishUrl(url);
process.stdout.write("held\n");
setInterval(() => undefined, 1_000);
