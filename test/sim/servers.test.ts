import { describe, it } from "vitest";
import type { TargetBehaviour } from "../../src/sim/fleet/simulated-target.ts";
import type { ServerKind } from "../../src/sim/servers/families.ts";
import { startFleet } from "../support/fleet.ts";
import { expectGolden, readWithoutNote } from "../support/golden.ts";

const FILE = "test/fixtures/sim/graphql.expected.txt";
const NOW_MS = Date.UTC(2026, 10, 20, 12, 0, 0, 500);

describe("the simulated servers", () => {
  it("answer as the real ones do", async () => {
    const answered: string[] = [];
    for (const text of readWithoutNote(FILE).trimEnd().split("\n\n")) {
      const [title = "", ...lines] = text.split("\n");
      const queries = lines.filter((line) => !line.startsWith("  HTTP"));
      answered.push([title, ...(await answers(title, queries))].join("\n"));
    }

    expectGolden(FILE, `${answered.join("\n\n")}\n`);
  });
});

async function answers(title: string, queries: readonly string[]): Promise<readonly string[]> {
  const [, name = "", chains = "", options = "{}"] = /^# (\S+) ([a-z ]+?)(?: (\{.*))?$/.exec(title) ?? [];
  const kind = name as ServerKind; // Of another the simulator says nothing.
  const wanted = JSON.parse(options) as Partial<TargetBehaviour> | { readonly authorization: string };
  await using fleet = await startFleet({
    nowMs: () => NOW_MS,
    endpoints: [{ kind, chains: chains.split(" ") }],
  });
  const headers = "authorization" in wanted ? wanted : {};
  fleet.target(`${kind}/base`).set("authorization" in wanted ? {} : wanted);
  const answered: string[] = [];
  for (const query of queries) {
    const response = await fetch(fleet.endpoint(kind).url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query }),
    });
    answered.push(query, `  HTTP ${response.status} ${await response.text()}`);
  }
  return answered;
}
