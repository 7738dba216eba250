import { chown, copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { buildImage, type ContainerImage, runBeside } from "./support/container-image.ts";

import type { Program } from "./support/program.ts";

import { temporaryFolder } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SETTLE = { timeout: 120_000, interval: 500 };

describe("Dockerfile", () => {
  let volume: string;
  let image: ContainerImage;
  let daemon: Program;

  const inside = (command: readonly string[]) => runBeside(daemon, command);

  beforeAll(async () => {
    const folder = await temporaryFolder("image");
    image = await buildImage(folder);
    volume = join(folder, "volume");
    await mkdir(volume);
    const [uid, gid] = image.config.User.split(":").map(Number);
    await chown(volume, uid ?? 0, gid ?? 0);
    const config = join(folder, "config");
    await mkdir(config);
    await copyFile(join(ROOT, "chains.yaml"), join(config, "chains.yaml"));
    daemon = await image.run({ volume, config });
  }, 600_000);

  it("does not run as root", () => {
    expect(image.config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it("has the labels of the Open Container Initiative", () => {
    expect(image.config.Labels).toMatchObject({
      "org.opencontainers.image.title": "synclag",
      "org.opencontainers.image.licenses": "MIT",
      "org.opencontainers.image.version": "e2e",
    });
  });

  it("holds production dependencies only, and no sources", async () => {
    const modules = await readdir(join(image.mountedAt, "app/node_modules"));

    expect(modules).toEqual(expect.arrayContaining(["undici", "fastify"]));
    expect(modules).not.toEqual(expect.arrayContaining(["typescript"]));
    expect((await readdir(join(image.mountedAt, "app"))).sort()).toEqual([
      ...["assets", "chains.yaml", "dashboards", "deploy", "dist", "docs", "health-check.mjs"],
      ...["node_modules", "package.json", "pager.mjs"],
    ]);
  });

  it("explains what to do without a configuration, and exits with code 2", async () => {
    const empty = await image.run({ volume });

    expect(await empty.exit).toEqual({ code: 2, signal: null });
    expect(empty.stderr()).toContain(
      "/etc/synclag/chains.yaml: no such file; check the path (in a container, also the mount)",
    );
  });

  it("plays the demo on request", async () => {
    const demo = await image.run({ volume, args: ["demo"] });

    const asked = ["node", "/app/health-check.mjs", "9855"];
    await expect.poll(async () => (await runBeside(demo, asked)).code, SETTLE).toBe(0);
    expect(await demo.stop()).toEqual({ code: 0, signal: null });
  });

  it("is healthy by its own health check, with a read-only root and without a network", async () => {
    const [kind, ...check] = image.config.Healthcheck.Test;

    expect(kind).toBe("CMD");
    await expect
      .poll(async () => {
        const { code, stderr } = await inside(check);
        return { code, stderr, log: code === 0 ? "" : daemon.stderr().slice(-1_000) };
      }, SETTLE)
      .toEqual({ code: 0, stderr: "", log: "" });
  });

  it("can write only into its volume", async () => {
    expect((await inside(["/usr/bin/touch", "/app/dist/written"])).stderr).toContain("Read-only file system");
    expect((await inside(["/usr/bin/touch", "/tmp/written"])).stderr).toContain("Read-only file system");
    expect((await inside(["/usr/bin/touch", "/var/lib/synclag/written"])).stderr).toBe("");
  });

  it("is unhealthy by its own health check when nothing listens", async () => {
    const check = image.config.Healthcheck.Test.slice(1).map((word) => word.replace("9855", "9"));

    expect((await inside(check)).code).toBe(1);
  });

  it("stops with exit code 0 after SIGTERM, and keeps its state in the volume", async () => {
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(await readdir(volume)).toContain("synclag.state.json");
  });
});
