import type { CommandWorld } from "./command-world.ts";

/** Whether a stream gets colours: a terminal does, unless `NO_COLOR` says anything at all (https://no-color.org). */
export function colorsFor(stream: "out" | "err", world: CommandWorld): "ansi" | "none" {
  const isTerminal = stream === "out" ? world.outIsTerminal : world.errIsTerminal;
  return isTerminal && (world.env["NO_COLOR"] ?? "") === "" ? "ansi" : "none";
}
