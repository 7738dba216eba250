import { writeFileSync } from "node:fs";
import { SETTINGS } from "../../dashboards/src/settings.ts";
import { realTime } from "../../dashboards/src/time-scale.ts";
import { renderRuleTests } from "./rule-test-files.ts";

const FOLDER = new URL("../../dashboards/rules/tests/", import.meta.url);

for (const [name, text] of renderRuleTests({ settings: SETTINGS, time: realTime })) {
  writeFileSync(new URL(name, FOLDER), text);
}
