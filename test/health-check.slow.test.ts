import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import bcrypt from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WebSettingsSource } from "../src/config/config.ts";
import { parseWebConfig } from "../src/config/web.ts";
import { liveWebSettings } from "../src/io/http-server/settings.ts";
import { recordLog } from "./support/log-recorder.ts";
import { startRawServer, takeRefusingPort } from "./support/raw-server.ts";
import { serve } from "./support/served.ts";
import { webConfigFolder } from "./support/web-configs.ts";

const TLS = "cert_file: cert.pem, key_file: key.pem";
const USERS = `basic_auth_users: { alice: "${bcrypt.hashSync("open sesame", 4)}" }`;

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("deploy/health-check.mjs", () => {
  it.each([
    "",
    `tls_server_config: { ${TLS} }`,
    USERS,
    `tls_server_config: { ${TLS} }\n${USERS}`,
    `tls_server_config: { ${TLS}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: cert.pem }`,
    `tls_server_config: { ${TLS}, client_auth_type: RequireAnyClientCert }`,
  ])("exits with 0 for a daemon with the web configuration %j", async (web) => {
    await using server = await serve({ healthy: () => ({ ok: true, detail: "" }) }, { web: liveOf(web) });

    expect(await exitCodeOf(Number(new URL(server.url).port))).toBe(0);
  });

  it.each(["", `tls_server_config: { ${TLS} }`])("exits with 1 for a stuck one with %j", async (web) => {
    await using server = await serve({ healthy: () => ({ ok: false, detail: "" }) }, { web: liveOf(web) });

    expect(await exitCodeOf(Number(new URL(server.url).port))).toBe(1);
  });

  it("exits with 1 if no process listens", async () => {
    expect(await exitCodeOf(await takeRefusingPort())).toBe(1);
  });

  it("exits with 1 without a reply", async () => {
    await using silent = await startRawServer({ onRequest: () => undefined });

    expect(await exitCodeOf(silent.port)).toBe(1);
  });
});

function liveOf(text: string): WebSettingsSource | null {
  const file = folder.write("web.yml", text);
  return text === ""
    ? null
    : liveWebSettings(
        () => parseWebConfig(text, { file, readFile: folder.readFile }),
        () => 0,
        recordLog().logger,
      );
}

async function exitCodeOf(port: number): Promise<unknown> {
  const script = fileURLToPath(new URL("../deploy/health-check.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, String(port)]);
  const [exitCode] = (await once(child, "close")) as [number | null];
  return exitCode;
}
