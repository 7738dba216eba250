import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type Program, runProgram, startProgram, succeed } from "./program.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCRIPTS = fileURLToPath(new URL("../image", import.meta.url));
const BASE = "localhost/synclag-e2e-node:latest";
const IMAGE = "localhost/synclag-e2e:latest";

const configSchema = z.object({
  Docker: z.object({
    config: z.object({
      User: z.string(),
      Env: z.array(z.string()),
      WorkingDir: z.string(),
      Cmd: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
      Volumes: z.record(z.string(), z.unknown()),
      Labels: z.record(z.string(), z.string()),
    }),
  }),
});

type ImageConfig = z.infer<typeof configSchema>["Docker"]["config"];

/** An image that was built from the Dockerfile, in a storage of its own. */
export interface ContainerImage {
  readonly config: ImageConfig;
  /** Its file system on this machine. */
  readonly mountedAt: string;
  /** Runs it read-only, as its own user, without a network. */
  run(options: RunOptions): Promise<Program>;
}

interface RunOptions {
  readonly volume: string;
  /** The folder with chains.yaml. */
  readonly config?: string;
  /** Without them it does what it does by default. */
  readonly args?: readonly string[];
}

/** Builds the repository's Dockerfile with no image registry. `workFolder` holds everything that this makes. */
export async function buildImage(workFolder: string): Promise<ContainerImage> {
  await succeed({ command: `${SCRIPTS}/base.sh`, args: [workFolder, BASE] });
  await succeed({ command: `${SCRIPTS}/build.sh`, args: [workFolder, BASE, IMAGE, ROOT] });

  const inspected = await buildah(workFolder, ["inspect", "--type", "image", IMAGE]);
  const { config } = configSchema.parse(JSON.parse(inspected)).Docker;
  const container = await buildah(workFolder, ["from", "--pull-never", IMAGE]);
  const mountedAt = await buildah(workFolder, ["mount", container]);
  return { config, mountedAt, run: (options) => runReadOnly({ config, mountedAt }, options) };
}

/** Runs a command inside what `run()` started: in its network and its file system. */
export function runBeside(
  program: Program,
  command: readonly string[],
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const [name = "", ...args] = command;
  return runProgram({
    command: "nsenter",
    args: ["--target", String(program.pid), "--net", "--mount", "--root", "--wd", "--", name, ...args],
  });
}

function runReadOnly(
  { config, mountedAt }: Omit<ContainerImage, "run">,
  { volume, config: folder = "", args = config.Cmd }: RunOptions,
): Promise<Program> {
  const [mountPoint = ""] = Object.keys(config.Volumes);
  const command = [config.WorkingDir, ...config.Env, ...config.Entrypoint, ...args];
  return startProgram({
    command: "unshare",
    args: [
      "--mount",
      "--net",
      `${SCRIPTS}/run-read-only.sh`,
      mountedAt,
      volume,
      mountPoint,
      folder,
      config.User,
      ...command,
    ],
  });
}

function buildah(workFolder: string, args: readonly string[]): Promise<string> {
  const storage = ["--root", `${workFolder}/storage`, "--runroot", `${workFolder}/runroot`];
  return succeed({ command: "buildah", args: [...storage, "--storage-driver", "vfs", ...args] });
}
