import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { describe, expect, it, vi } from "vitest";
import { issueCertificate } from "../support/certificates.ts";
import { freePort } from "./support/free-port.ts";
import { runProgram } from "./support/program.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { simulate, startSynclag } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const KEY = "airdrops/subgraph/production/all";
const FLEET = `
version: 1
poll: { retries: 0 }
budgets: { many: { limit: 40000, per: hour, scope: shared } }
chains: { base: { id: 8453, name: base, block_time: 2s } }
protocols:
  airdrops: [{ variant: subgraph, dialect: graph, url: "https://graph.example/", schedule: "* * * * * *", budget: many, chains: [base] }]
`;

describe("synclag check, on a store that is protected", () => {
  it("needs only the commands that docs/HIGH-AVAILABILITY.md names, and says which permission it lacks", async () => {
    const { fleet, config } = await simulate(FLEET);
    const server = await startRedis();
    const docs = await readFile("docs/HIGH-AVAILABILITY.md", "utf8");
    const [, permissions = ""] = /\ban ACL user needs\s+`([^`]*)`/i.exec(docs) ?? [];
    await ask(server, ["ACL", "SETUSER", "synclag", "on", ">hunter22", ...permissions.split(/\s+/)]);
    await ask(server, ["ACL", "SETUSER", "reader", "on", ">hunter22", "~synclag:*", "+hgetall", "+hello"]);
    const store = (user: string): string => `redis://${user}:hunter22@127.0.0.1:${server.port}/1`;

    const allowed = await checkOn(config, store("synclag"));
    const denied = await checkOn(config, store("reader"));
    const daemon = await startSynclag(config, ["--store", store("synclag")]);
    const before = fleet.endpoint(KEY).requestCount;
    await vi.waitFor(() => expect(fleet.endpoint(KEY).requestCount).toBeGreaterThan(before), {
      timeout: 60_000,
    });

    expect(allowed.stdout).toContain('"status": "ok"');
    expect(denied.stdout + denied.stderr).toContain("permission");
    expect(denied.stdout + denied.stderr + daemon.stderr()).not.toContain("hunter22");
    expect(daemon.stderr()).not.toContain("Store unreachable");
  });

  it("accepts only a server whose certificate authority is in NODE_EXTRA_CA_CERTS", async () => {
    const { config } = await simulate(FLEET);
    const folder = await temporaryFolder("store-tls");
    const authority = issueCertificate({ host: "authority.test" });
    const server = issueCertificate({ host: "localhost", issuer: authority });
    const [ca, cert, key] = [join(folder, "ca.pem"), join(folder, "cert.pem"), join(folder, "key.pem")];
    await writeFile(ca, authority.certPem);
    await writeFile(cert, server.certPem);
    await writeFile(key, server.keyPem);
    const port = await freePort();
    await startRedis([
      ...["--tls-port", String(port), "--tls-cert-file", cert, "--tls-key-file", key],
      ...["--tls-ca-cert-file", ca, "--tls-auth-clients", "no"],
    ]);

    const trusted = await checkOn(config, `rediss://localhost:${port}`, { NODE_EXTRA_CA_CERTS: ca });
    const unknown = await checkOn(config, `rediss://localhost:${port}`);

    expect(trusted.stdout).toContain('"status": "ok"');
    expect(trusted.stderr).not.toContain("Store unreachable");
    expect(unknown.stdout + unknown.stderr).toContain("certificate");
  });
});

function checkOn(config: string, store: string, env: Readonly<Record<string, string>> = {}) {
  const args = ["dist/main.js", "check", "--config", config, "--store", store, "--format", "json"];
  return runProgram({ command: process.execPath, args, env });
}

/** One command to the store itself. */
async function ask({ url }: RedisServer, command: readonly string[]): Promise<unknown> {
  const client = await createClient({ url, RESP: 2 }).connect();
  try {
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}
