import { writeFileSync } from "node:fs";
import { apiPage } from "./api-page.ts";
import { cliPage } from "./cli-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { statusesPage } from "./statuses-page.ts";

write("configuration.md", configurationPage());
write("api.md", apiPage());
write("statuses.md", statusesPage());
write("cli.md", await cliPage());

function write(name: string, text: string): void {
  writeFileSync(new URL(name, import.meta.url), text);
}
