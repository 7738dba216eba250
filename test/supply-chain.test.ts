import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly hasInstallScript?: true;
  readonly dev?: true;
  readonly link?: true;
}

interface Workload {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: object } };
}

const manifest = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const lock = JSON.parse(read("package-lock.json")) as { readonly packages: Readonly<Record<string, Locked>> };
const atRunTime = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && dev !== true);

describe("package.json", () => {
  it("has a reason in docs/decisions for each runtime dependency, and no other reasons", () => {
    const reasons = [
      ...read("docs/decisions/0001-runtime-dependencies.md").matchAll(/^- \*\*([\w@/-]+)\*\*, for /gm),
    ]
      .map(([, name]) => name)
      .filter((name) => name !== "package");

    expect(reasons).toEqual(Object.keys(manifest.dependencies));
  });
});

describe(".github/workflows", () => {
  it("pin every action to a commit, with its version", () => {
    const used = readdirSync(".github/workflows").flatMap((name) =>
      [...read(`.github/workflows/${name}`).matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action),
    );

    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((action) => !/^[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action ?? ""))).toEqual([]);
  });
});

describe("deploy/helm", () => {
  it("has the version of the package", () => {
    const { version } = manifest;

    expect(parse(read("deploy/helm/synclag/Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });
});

describe("the flags of Node in the first line of main.ts", () => {
  const flags = /^#!\/usr\/bin\/env -S node (.*)\n/.exec(read("src/main.ts"))?.[1]?.split(" ") ?? [];

  it("equal those of the image, and are known to this Node", () => {
    const [, entrypoint = ""] = /^ENTRYPOINT (.*)$/m.exec(read("Dockerfile")) ?? [];
    const told = execFileSync(process.execPath, [...flags, "-p", "process.execArgv.join()"]).toString();

    expect(flags).not.toEqual([]);
    expect(JSON.parse(entrypoint)).toEqual(["node", ...flags, "/app/dist/main.js"]);
    expect(told).toContain(flags.join());
  });
});

describe("package-lock.json", () => {
  it("locks every runtime package by its hash, and none of them runs an install script", () => {
    const unlocked = atRunTime.filter(
      ([, { integrity, link }]) => link !== true && !integrity?.startsWith("sha512-"),
    );

    expect(atRunTime.length).toBeGreaterThan(20);
    expect(unlocked.map(([path]) => path)).toEqual([]);
    expect(atRunTime.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  });

  it("fits package.json, and is the only source of a build's packages", () => {
    const installs = read("Dockerfile").match(/npm (?:ci|install|i|add) .*/g) ?? [];

    expect(lock.packages[""]).toMatchObject({ dependencies: manifest.dependencies });
    // `npm ci` refuses a lock file that does not fit, and does not change it.
    expect(installs.map((command) => command.split(" --")[0])).toEqual(["npm ci"]);
    expect(installs[0]).toContain("--ignore-scripts");
  });
});

describe("deploy/", () => {
  it("gives Synclag no privilege in Kubernetes", () => {
    const workload = parseAllDocuments(read("deploy/kubernetes.yaml"))
      .map((document) => document.toJS() as Workload)
      .find(({ kind }) => kind === "StatefulSet");

    expect(workload?.spec.template.spec).toMatchObject(
      parse(`
        automountServiceAccountToken: false
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: RuntimeDefault } }
        containers:
          - securityContext:
              { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
      `),
    );
  });

  it("gives Synclag no privilege in compose", () => {
    expect(parse(read("deploy/compose.yaml"))).toMatchObject({
      services: {
        synclag: { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
      },
    });
  });
});

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
}
