import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "vitest";
import { WatchedFiles } from "../../src/io/watched-files.ts";
import { commandWorld } from "../support/command-world.ts";
import { mountConfigMap } from "../support/config-map.ts";
import { expectTold, verbIn } from "../support/tell.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

it("WatchedFiles reports the changes of test/fixtures/watched-files.txt", async () => {
  await expectTold("test/fixtures/watched-files.txt", async () => watcherIn(await temporaryFolder()));
});

function watcherIn({ path: folder, ...disposable }: Awaited<ReturnType<typeof temporaryFolder>>) {
  const files = new WatchedFiles(commandWorld({}).world);
  let updateMount: (text: string) => void = () => undefined;
  const verbs: Readonly<Record<string, (file: string, text: string) => unknown>> = {
    write: (file, text) => writeFileSync(join(folder, file), text),
    replace(file, text) {
      writeFileSync(join(folder, "new"), text);
      renameSync(join(folder, "new"), join(folder, file));
    },
    remove: (file) => rmSync(join(folder, file)),
    mount(text) {
      updateMount = mountConfigMap(folder, text).update;
    },
    update: (text) => updateMount(text),
    read: (file) => files.read(join(folder, file)),
    list: () => files.list(folder, /^fleet-.*[.]yaml$/).join(", ") || "none",
    forget: () => files.startOver(),
    look(times) {
      const looks = Array.from({ length: Number(times) }, (_, index) => index + 1);
      return `changed: ${looks.filter(() => files.haveChanged()).join(", ") || "never"}`;
    },
  };
  return {
    ...disposable,
    do(line: string) {
      const [verb = "", first = "", ...text] = line.split(" ");
      const happen = verbIn(verbs, verb);
      try {
        const said = happen(first, text.join(" "));
        return typeof said === "string" ? [said] : [];
      } catch (error) {
        return [String(error).split(",")[0] ?? ""];
      }
    },
  };
}
