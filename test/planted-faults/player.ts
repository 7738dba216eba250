import { resolve } from "node:path";
import { BaseSequencer, startVitest, type TestSpecification, type TestUserConfig } from "vitest/node";
import config from "../../vitest.config.ts";
import type { PlantedFault } from "./faults.ts";

/*
 * Plays the unit tests on a fault, until one fails: a process of its own, since a fault may make the code never end. Its arguments are
 * the fault as JSON, and filters as for `vitest run`.
 */

const [json = "", ...filters] = process.argv.slice(2);
// The parent process made the text, so its shape is known.
const fault = JSON.parse(json) as PlantedFault;
const folder = fault.file.replace(/^src\/(.*)\/[^/]*$/, "$1");
/** Those first that are likeliest to notice it. */
const ORDER = [`/test/${folder}/`, "/test/worlds/decisions", "/test/scenarios/", ""];

class LikeliestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => ORDER.findIndex((part) => moduleId.includes(part));
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

// Ends the workers, too, in which a fault may loop for ever.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));
const vitest = await startVitest(
  "test",
  filters,
  {
    ...unitTests(),
    // The projects of the configuration would not have the plugin below.
    config: false,
    watch: false,
    bail: 1,
    maxWorkers: 1,
    // A fault often makes a test wait for something that never comes. Without a fault, no test takes this time, even on a busy machine.
    testTimeout: 40_000,
    hookTimeout: 40_000,
    sequence: { sequencer: LikeliestFirst },
    reporters: [],
  },
  {
    plugins: [
      {
        name: "planted-fault",
        enforce: "pre",
        transform: (code, id) =>
          id === resolve(fault.file)
            ? code.slice(0, fault.start) + fault.replacement + code.slice(fault.end)
            : null,
      },
    ],
  },
);
await vitest.close();
process.exit();

/** The options of the unit tests, as in the configuration of all. */
function unitTests(): TestUserConfig {
  const { projects, ...shared } = config.test ?? {};
  for (const project of projects ?? []) {
    if (typeof project === "object" && "test" in project && project.test.name === "unit") {
      return { ...shared, ...project.test };
    }
  }
  throw new Error('Cannot find the project "unit" in vitest.config.ts');
}
