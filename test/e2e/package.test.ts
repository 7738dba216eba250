import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { getText } from "./support/loopback.ts";
import { runProgram, type Server, startServer, succeed } from "./support/program.ts";
import { STARTED } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const CHAINS = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
protocols:
  airdrops:
    - { variant: multichain, url: "http://127.0.0.1:9/graphql", chains: [base] }
`;

/** The output of `npm pack --json`. */
interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

describe("the npm package", () => {
  let installed: string;
  let packed: Packed;
  let folder: string;

  /** "nobody" on Debian. It owns nothing and has no home. */
  const asNobody = (args: readonly string[]) => ({
    command: "setpriv",
    args: [..."--reuid 65534 --regid 65534 --clear-groups env -u HOME node".split(" "), installed, ...args],
    cwd: folder,
  });

  beforeAll(async () => {
    folder = await temporaryFolder("package");
    const args = ["pack", "--json", "--pack-destination", folder];
    [packed] = JSON.parse(await succeed({ command: "npm", args, cwd: ROOT })) as [Packed];
    await writeFile(join(folder, "package.json"), "{}");
    const install = await runProgram({
      command: "npm",
      args: ["install", "--omit=dev", "--no-audit", "--no-fund", "--ignore-scripts", `./${packed.filename}`],
      cwd: folder,
    });
    expect(install).toMatchObject({ code: 0, stderr: expect.not.stringContaining("EBADENGINE") });
    installed = join(folder, "node_modules/synclag/dist/main.js");
    await writeFile(join(folder, "chains.yaml"), CHAINS);
    await mkdir(join(folder, "state"), { mode: 0o777 });
    await chmod(join(folder, "state"), 0o777);
    await chmod(folder, 0o755);
  }, 120_000);

  it("holds no tests, sources or source maps", () => {
    const folders = new Set(packed.files.map(({ path }) => path.split("/")[0]));

    expect([...folders].sort()).toEqual([
      ...["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "ROADMAP.md", "SECURITY.md", "assets"],
      ...["chains.schema.json", "chains.yaml", "dashboards", "deploy", "dist", "docs", "package.json"],
    ]);
    expect(packed.files.filter(({ path }) => /\.(ts|map)$/.test(path))).toEqual([]);
  });

  it("holds what its README links to", async () => {
    const paths = packed.files.map(({ path }) => path);
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const links = [...readme.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, link = ""]) => link);

    expect(links.length).toBeGreaterThan(10);
    const isThere = (link: string) =>
      paths.some((path) => (link.endsWith("/") ? path.startsWith(link) : path === link));
    expect(links.filter((link) => !isThere(link))).toEqual([]);
  });

  it("runs by its bin, in the version of package.json", async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
    const args = ["--no-install", "synclag", "--version"];

    expect(await succeed({ command: "npx", args, cwd: folder })).toBe(version);
  });

  it("plans, plays the demo and serves its runbooks in a folder that it cannot write to, as a user without a home", async () => {
    const plan = await runProgram(asNobody(["plan"]));
    const daemon = await started(["demo"]);

    expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining("airdrops multichain") });
    await getText(`${daemon.url}/docs/runbooks/SynclagDown`);
    await getText(`${daemon.url}/docs/statuses`);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });

  it("exports rules that Prometheus accepts", async () => {
    const rules = join(folder, "rules");
    const exported = await succeed({ command: "node", args: [installed, "export", "rules", "-o", rules] });
    const files = exported.split("\n");

    expect(files).toEqual(["alerts", "recording"].map((name) => join(rules, `synclag-${name}.yml`)));
    await succeed({ command: "promtool", args: ["check", "rules", ...files] });
  });

  it("exports a unit that systemd accepts, with a low exposure level", async () => {
    const unit = await exportedUnit();
    // systemd looks for the program where npm installs it globally.
    await writeFile(unit, (await readFile(unit, "utf8")).replace("=synclag ", `=${installed} `));

    const verified = await runProgram({ command: "systemd-analyze", args: ["verify", "--man=no", unit] });
    expect(verified).toMatchObject({ code: 0, stderr: "" });
    await succeed({
      command: "systemd-analyze",
      args: ["security", "--offline=true", "--threshold=15", "--no-pager", unit],
    });
  });

  it("runs the daemon as the unit does, and `check` can ask it", async () => {
    const [, command = ""] =
      /^ExecStart=synclag (.*)$/m.exec(await readFile(await exportedUnit(), "utf8")) ?? [];
    const here = command.replace("/etc/synclag", folder).replace("%S/synclag", join(folder, "state"));
    const daemon = await started(here.split(" "));

    const check = await runProgram(asNobody(["check", "--url", daemon.url]));

    // Nothing listens on the indexer's port.
    expect(check.code).toBe(2);
    expect(check.stdout).toContain("unreachable");
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });

  async function exportedUnit(): Promise<string> {
    return await succeed({ command: "node", args: [installed, "export", "systemd", "-o", folder] });
  }

  function started(args: readonly string[]): Promise<Server> {
    return startServer(asNobody([...args, "--listen", "127.0.0.1:0"]), STARTED, "/-/ready");
  }
});
