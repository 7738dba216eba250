import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** Of CycloneDX 1.5, what npm fills in. */
interface Sbom {
  readonly bomFormat: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly properties?: readonly { readonly name: string }[];
  }[];
}

describe("npm sbom", () => {
  it("lists every package at run time as one, by the command of SECURITY.md", async () => {
    const [command = ""] = /^npm sbom .*?cyclonedx/m.exec(readFileSync("SECURITY.md", "utf8")) ?? [];
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly version: string; readonly dev?: true }>>;
    };

    const { stdout } = await promisify(execFile)("sh", ["-c", command], { maxBuffer: 16 * 1024 * 1024 });
    const sbom = JSON.parse(stdout) as Sbom;

    const listed = sbom.components
      .filter(({ properties = [] }) => !properties.some(({ name }) => name.endsWith(":development")))
      .map(({ name, version }) => `${name}@${version}`);
    const locked = Object.entries(packages)
      .filter(([path, { dev }]) => path !== "" && dev !== true)
      .map(([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`);
    expect(sbom.bomFormat).toBe("CycloneDX");
    expect(new Set(listed)).toEqual(new Set(locked));
  });
});
