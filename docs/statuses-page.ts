import { readFileSync } from "node:fs";
import { STATUSES, type Status, traitsOf } from "../src/core/model/statuses.ts";

const BEGIN = "<!-- Made by `npm run generate` from src/core/model/statuses.ts. -->";
const END = "<!-- End of what is made. -->";

/** `docs/statuses.md` with the table of the traits of each status. */
export function statusesPage(): string {
  const page = readFileSync(new URL("statuses.md", import.meta.url), "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const rows = STATUSES.map((status) => rowOf(status));
  const head =
    "| status | urgency | replied | reported a height | has a lag | can serve users | pages by itself |";
  return `${before}${BEGIN}\n\n${[head, "|---|--:|---|---|---|---|---|", ...rows].join("\n")}\n\n${END}${after}`;
}

function rowOf(status: Status): string {
  const { hasHeight, hasLag, hasReply, isUsable, pages, urgency } = traitsOf(status);
  const cells = [hasReply, hasHeight, hasLag, isUsable, pages].map((one) => (one ? "yes" : ""));
  return `| [\`${status}\`](#${status}) | ${urgency} | ${cells.join(" | ")} |`;
}
