import { fileURLToPath } from "node:url";
import { type Program, runProgram, startProgram, succeed } from "./program.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCRIPTS = fileURLToPath(new URL("../image", import.meta.url));
const BASE = "localhost/synclag-e2e-node:latest";
const IMAGE = "localhost/synclag-e2e:latest";

type Words = readonly string[];
/** Of the Open Container Initiative. */
type ImageConfig = Readonly<Record<"User" | "WorkingDir", string>> &
  Readonly<Record<"Env" | "Cmd" | "Entrypoint", Words>> &
  Readonly<Record<"Volumes" | "Labels", Readonly<Record<string, unknown>>>> & {
    readonly Healthcheck: { readonly Test: Words };
  };

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
  /** Without arguments the image runs its default command. */
  readonly args?: readonly string[];
}

/** Builds the repository's Dockerfile with no image registry. `workFolder` holds everything that this makes. */
export async function buildImage(workFolder: string): Promise<ContainerImage> {
  await succeed({ command: `${SCRIPTS}/base.sh`, args: [workFolder, BASE] });
  await succeed({ command: `${SCRIPTS}/build.sh`, args: [workFolder, BASE, IMAGE, ROOT] });

  const inspected = JSON.parse(await buildah(workFolder, ["inspect", "--type", "image", IMAGE]));
  const config = inspected.Docker.config as ImageConfig; // As Buildah writes it.
  const container = await buildah(workFolder, ["from", "--pull-never", IMAGE]);
  const mountedAt = await buildah(workFolder, ["mount", container]);
  return { config, mountedAt, run: (options) => runReadOnly({ config, mountedAt }, options) };
}

/** Runs a command inside what `run()` started: in its network and its file system. */
export function runBeside({ pid }: Program, command: Words): ReturnType<typeof runProgram> {
  const inside = ["--target", String(pid), "--net", "--mount", "--root", "--wd", "--"];
  return runProgram({ command: "nsenter", args: [...inside, ...command] });
}

function runReadOnly(
  { config, mountedAt }: Omit<ContainerImage, "run">,
  { volume, config: folder = "", args = config.Cmd }: RunOptions,
): Promise<Program> {
  const [mountPoint = ""] = Object.keys(config.Volumes);
  const places = [mountedAt, volume, mountPoint, folder, config.User, config.WorkingDir];
  const command = [...config.Env, ...config.Entrypoint, ...args];
  const script = ["--mount", "--net", `${SCRIPTS}/run-read-only.sh`];
  return startProgram({ command: "unshare", args: [...script, ...places, ...command] });
}

function buildah(workFolder: string, args: readonly string[]): Promise<string> {
  const storage = ["--root", `${workFolder}/storage`, "--runroot", `${workFolder}/runroot`];
  return succeed({ command: "buildah", args: [...storage, "--storage-driver", "vfs", ...args] });
}
