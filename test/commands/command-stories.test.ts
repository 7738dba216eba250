import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { issueCertificate } from "../support/certificates.ts";
import { startRawServer } from "../support/raw-server.ts";
import { expectTold } from "../support/tell.ts";
import { CommandStory } from "./command-story.ts";

const STORIES = "test/fixtures/cli";

describe("what the commands in test/fixtures/cli print", () => {
  it.each(readdirSync(STORIES).filter((name) => name.endsWith(".txt")))("%s", async (name) => {
    await expectTold(`${STORIES}/${name}`, () => new CommandStory());
  });
});

describe("synclag", () => {
  it("prints the first 100 mistakes of a configuration and the number of the others", async () => {
    await using story = new CommandStory();
    const names = Array.from({ length: 1_001 }, (_, index) => `name-${index}`);
    await story.do(`edit auto, chains: [base, mode] => auto, chains: [${names.join(", ")}]`);

    for (const [command, exitCode] of Object.entries({ "config check": 2, plan: 2, run: 2, check: 3 })) {
      const said = await story.do(
        `synclag ${command}${command === "config check" ? "" : " --config"} chains.yaml`,
      );
      expect(said[99]).toMatch(/chains\[99\]: unknown chain "name-99"$/);
      expect(said.slice(100)).toEqual(["… and 901 more", `exit code ${exitCode}`]);
    }
  });

  it("prints the JSON Schema of the configuration", async () => {
    await using story = new CommandStory();

    const said = await story.do("synclag config schema");

    expect(said.slice(0, -1).join("\n")).toBe(readFileSync("chains.schema.json", "utf8").trimEnd());
  });

  it("explains a certificate error, and how to trust a private authority", async () => {
    await using story = new CommandStory();
    const { keyPem, certPem } = issueCertificate({ host: "localhost" });
    const tls = { key: keyPem, cert: certPem };
    await using selfSigned = await startRawServer({ onRequest: () => undefined, tls });

    const said = await story.do(`synclag probe https://localhost:${selfSigned.port}/`);

    expect(said.join("\n")).toMatch(/is self-signed \(tls\).*NODE_EXTRA_CA_CERTS.*\nexit code 1$/s);
    expect(selfSigned.requests).toEqual([]);
  });
});
