import { dirname, join } from "node:path";

/** Where the state is kept by default: beside the configuration. */
export function stateFileBeside(configFile: string): string {
  return join(dirname(configFile), "synclag.state.json");
}
