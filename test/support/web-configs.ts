import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCertificate } from "./certificates.ts";

/** The files of `WEB_CONFIGS`: `# VERDICT: NAME`, the text, `=> ` and what our own reader says. */
export const WEB_CONFIGS_FILE = "test/fixtures/config/web-configs.expected.txt";

/** Web configurations, and what exporter-toolkit's own reader says of each. */
export const WEB_CONFIGS = [
  ...readFileSync(WEB_CONFIGS_FILE, "utf8").matchAll(/^# (good|bad|not compared): (.*)\n([\s\S]*?)\n=> /gm),
].map(([, verdict = "", name = "", text = ""]) => ({ verdict, name, text }));

/** A folder with a certificate for localhost, its key and another key; `write` puts a file there and returns its path. */
export function webConfigFolder(): Disposable & {
  readonly path: string;
  readonly write: (name: string, text: string) => string;
  readonly readFile: (path: string) => string;
} {
  const path = mkdtempSync(join(tmpdir(), "synclag-web-"));
  const write = (name: string, text: string): string => {
    writeFileSync(join(path, name), text);
    return join(path, name);
  };
  const { certPem, keyPem } = issueCertificate({ host: "localhost" });
  write("cert.pem", certPem);
  write("key.pem", keyPem);
  write("other-key.pem", issueCertificate({ host: "localhost" }).keyPem);
  return {
    path,
    write,
    readFile: (file) => readFileSync(file, "utf8"),
    [Symbol.dispose]() {
      rmSync(path, { recursive: true });
    },
  };
}
