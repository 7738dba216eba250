import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/cli.ts";
import { CHAINS_YAML, commandWorld } from "../support/command-world.ts";
import { startSynclag } from "../support/synclag-process.ts";
import { webConfigFolder } from "../support/web-configs.ts";

let folder: ReturnType<typeof webConfigFolder>;

vi.setConfig({ testTimeout: 30_000 });

beforeEach(() => {
  folder = webConfigFolder();
  writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
});

afterEach(() => folder[Symbol.dispose]());

describe("synclag run --web-config", () => {
  it("serves over TLS with files relative to the configuration", async () => {
    folder.write("web.yml", "tls_server_config: { cert_file: cert.pem, key_file: key.pem }");
    await using synclag = startSynclag(["run", "--web-config", "web.yml", "--log-format", "json"], {
      cwd: folder.path,
    });

    const [, url] = await synclag.logged(/"url":"(https:\/\/127\.0\.0\.1:\d+)"/);

    expect(url).toMatch(/:\d+$/);
  });

  it("refuses an invalid one with all its problems and exit code 2", async () => {
    const web = folder.write("web.yml", "tls_server_config: { cert_file: cert.pem }\nusers: {}\n");

    const { exitCode, err } = await runWith(web);

    expect(exitCode).toBe(2);
    expect(err).toContain(`${web}:2:1: users: unknown key "users"`);
  });

  it("refuses a missing file", async () => {
    const web = join(folder.path, "no.yml");

    expect(await runWith(web)).toEqual({
      exitCode: 2,
      err: `${web}: no such file; choose another with --web-config`,
    });
  });
});

async function runWith(webConfig: string) {
  const { world, printed } = commandWorld({});
  const args = ["run", "--config", join(folder.path, "chains.yaml"), "--web-config", webConfig];
  const exitCode = await runCli(["node", "synclag", ...args], world);
  return { exitCode, err: printed.err.join("\n") };
}
