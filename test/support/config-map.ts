import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A ConfigMap with a chains.yaml, as Kubernetes mounts it into a folder. */
export interface MountedConfigMap {
  /** The path of chains.yaml. */
  readonly path: string;
  /** Replaces the text of chains.yaml as kubelet does. */
  readonly update: (text: string) => void;
}

/** Mounts it: chains.yaml is a link to ..data/chains.yaml, and ..data a link to a folder that each update creates. */
export function mountConfigMap(folder: string, text: string): MountedConfigMap {
  let version = 0;
  const update = (next: string): void => {
    version += 1;
    mkdirSync(join(folder, `..${version}`));
    writeFileSync(join(folder, `..${version}`, "chains.yaml"), next);
    symlinkSync(`..${version}`, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    rmSync(join(folder, `..${version - 1}`), { recursive: true, force: true });
  };
  update(text);
  symlinkSync("..data/chains.yaml", join(folder, "chains.yaml"));
  return { path: join(folder, "chains.yaml"), update };
}
