import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { issueCertificate } from "../../test/support/certificates.ts";

/** An indexer in a process of its own, over HTTP and over TLS. */
export interface Upstream extends AsyncDisposable {
  readonly http: string;
  readonly https: string;
  /** The certificate to trust, as a PEM file: for NODE_EXTRA_CA_CERTS, or another program's configuration. */
  readonly caFile: string;
  /** From now on no request is answered. */
  readonly hang: () => void;
  /** How many requests it has answered so far. To be called once at a time. */
  readonly answered: () => Promise<number>;
  /** When it was asked in each period of so many milliseconds, since it was asked this before; likewise. */
  readonly rounds: (periodMs: number) => Promise<readonly Round[]>;
}

/** When the first and the last request came, in milliseconds after the period began, as schedules count them. */
export type Round = z.infer<typeof roundSchema>;

const HOUR_MS = 3_600_000;
const roundSchema = z.object({ firstMs: z.number(), lastMs: z.number() });
const portsSchema = z.object({ http: z.int(), https: z.int() });

/** Starts what all that is measured polls. */
export async function startUpstream(): Promise<Upstream> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-upstream-"));
  const [keyFile, caFile] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const now = Date.now();
  const issued = issueCertificate({
    host: "localhost",
    validFrom: new Date(now - HOUR_MS),
    validTo: new Date(now + 24 * HOUR_MS),
  });
  await writeFile(keyFile, issued.keyPem);
  await writeFile(caFile, issued.certPem);
  const script = join(import.meta.dirname, "upstream-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, keyFile, caFile], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  const [line] = (await once(lines, "line")) as [string];
  const ports = portsSchema.parse(JSON.parse(line));
  async function ask(question: string): Promise<unknown> {
    const told = once(lines, "line");
    child.stdin.write(`${question}\n`);
    return JSON.parse(((await told) as [string])[0]);
  }
  return {
    http: `http://localhost:${ports.http}`,
    https: `https://localhost:${ports.https}`,
    caFile,
    hang: () => void child.stdin.write("hang\n"),
    answered: async () => z.number().parse(await ask("count")),
    rounds: async (periodMs) => z.array(roundSchema).parse(await ask(`rounds ${periodMs}`)),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, "exit");
      await rm(folder, { recursive: true });
    },
  };
}
