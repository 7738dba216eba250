import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import bcrypt from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWebConfig } from "../src/commands/load-config.ts";
import type { WebSettingsSource } from "../src/config/config.ts";
import { recordLog } from "./support/log-recorder.ts";
import { startRawServer, takeRefusingPort } from "./support/raw-server.ts";
import { serve } from "./support/served.ts";
import { webConfigFolder } from "./support/web-configs.ts";

const TLS = "cert_file: cert.pem, key_file: key.pem";
const CLIENTS = `tls_server_config: { ${TLS}, client_auth_type`;
const USERS = `basic_auth_users: { alice: "${bcrypt.hashSync("open sesame", 4)}" }`;

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("deploy/health-check.mjs", () => {
  it.each([
    { web: "", exitCode: 0 },
    { web: `tls_server_config: { ${TLS} }`, exitCode: 0 },
    { web: USERS, exitCode: 0 },
    { web: `tls_server_config: { ${TLS} }\n${USERS}`, exitCode: 0 },
    { web: `${CLIENTS}: RequireAndVerifyClientCert, client_ca_file: cert.pem }`, exitCode: 0 },
    { web: `${CLIENTS}: RequireAnyClientCert }`, exitCode: 0 },
    { web: "", stuck: true, exitCode: 1 },
    { web: `tls_server_config: { ${TLS} }`, stuck: true, exitCode: 1 },
  ])(
    "exits with $exitCode for a daemon with $web, stuck: $stuck",
    async ({ web, stuck = false, exitCode }) => {
      const healthy = () => ({ ok: !stuck, detail: "" });
      await using server = await serve({ healthy }, { web: liveOf(web) });

      expect(await exitCodeOf(Number(new URL(server.url).port))).toBe(exitCode);
    },
  );

  it("exits with 1 if no process listens, or none replies", async () => {
    await using silent = await startRawServer({ onRequest: () => undefined });

    expect(await exitCodeOf(await takeRefusingPort())).toBe(1);
    expect(await exitCodeOf(silent.port)).toBe(1);
  });
});

function liveOf(text: string): WebSettingsSource | null {
  const file = folder.write("web.yml", text);
  const world = { readFile: folder.readFile, monotonicMs: () => 0 };
  return text === "" ? null : openWebConfig(file, world, recordLog().logger);
}

async function exitCodeOf(port: number): Promise<unknown> {
  const script = fileURLToPath(new URL("../deploy/health-check.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, String(port)]);
  const [exitCode] = (await once(child, "close")) as [number | null];
  return exitCode;
}
