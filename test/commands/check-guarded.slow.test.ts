import { writeFileSync } from "node:fs";
import { join } from "node:path";
import bcrypt from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHAINS_YAML } from "../support/command-world.ts";
import { runSynclag, type SynclagProcess, startSynclag } from "../support/synclag-process.ts";
import { webConfigFolder } from "../support/web-configs.ts";

const PASSWORD = "open sesame/@:";

let folder: ReturnType<typeof webConfigFolder>;
let daemon: SynclagProcess;
let port: string;

beforeAll(async () => {
  folder = webConfigFolder();
  writeFileSync(join(folder.path, "chains.yaml"), CHAINS_YAML);
  folder.write(
    "web.yml",
    `tls_server_config: { cert_file: cert.pem, key_file: key.pem }
basic_auth_users: { alice: "${bcrypt.hashSync(PASSWORD, 4)}" }`,
  );
  daemon = startSynclag(["run", "--web-config", "web.yml", "--log-format", "json"], { cwd: folder.path });
  [, port = ""] = await daemon.logged(/"url":"https:\/\/127\.0\.0\.1:(\d+)"/);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

// Each test starts its own processes, so the tests run in parallel.
describe.concurrent("synclag check of a daemon with TLS and passwords", () => {
  it("succeeds with the password and a certificate of a private authority", async () => {
    const checked = await check([
      "--url",
      `https://alice:\${PASSWORD}@localhost:${port}`,
      "--format",
      "json",
    ]);

    expect(checked.err).toBe("");
    expect(JSON.parse(checked.out)).toMatchObject({ targets: [{ protocol: "airdrops", chain: "base" }] });
  });

  it("says what to do without a password", async () => {
    const { exitCode, err } = await check(["--url", `https://localhost:${port}`]);

    expect(exitCode).toBe(3);
    expect(err).toBe(
      `Cannot ask https://localhost:${port}: answered with HTTP 401; check user and password, as in --url 'https://USER:\${PASSWORD}@HOST:PORT'\n`,
    );
  });

  it("explains the certificate error of a daemon that it found by its state file", async () => {
    const { exitCode, err } = await check([]);

    expect(exitCode).toBe(3);
    expect(err).toMatch(/^Asking the running daemon at https:\/\/127\.0\.0\.1:\d+ \(pid \d+\)/);
    expect(err).toContain(
      "the TLS certificate is for another host; use a name of its certificate as in --url https://HOST:PORT",
    );
    expect(err).not.toContain("NODE_EXTRA_CA_CERTS");
  });

  it("does not print the password", async () => {
    const { out, err } = await check(["--url", `https://alice:\${PASSWORD}@127.0.0.1:${port}`]);

    expect(`${out}${err}`).not.toMatch(/sesame/);
    expect(err).toContain(`Cannot ask https://127.0.0.1:${port}: the TLS certificate is for another host`);
  });
});

function check(args: readonly string[]) {
  const env = { PASSWORD, NODE_EXTRA_CA_CERTS: join(folder.path, "cert.pem") };
  return runSynclag(["check", ...args], { cwd: folder.path, env });
}
