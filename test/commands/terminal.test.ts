import { describe, expect, it } from "vitest";
import { colorsFor } from "../../src/commands/terminal.ts";
import { commandWorld } from "../support/command-world.ts";

describe("colorsFor()", () => {
  it.each([
    { stream: "out", terminals: ["out"], noColor: undefined, colors: "ansi" },
    { stream: "err", terminals: ["err"], noColor: undefined, colors: "ansi" },
    { stream: "out", terminals: ["err"], noColor: undefined, colors: "none" },
    { stream: "err", terminals: ["out"], noColor: undefined, colors: "none" },
    { stream: "out", terminals: ["out"], noColor: "1", colors: "none" },
    { stream: "err", terminals: ["err"], noColor: "0", colors: "none" },
    { stream: "out", terminals: ["out"], noColor: "", colors: "ansi" },
  ] as const)("gives $stream $colors with terminals $terminals and NO_COLOR=$noColor", (test) => {
    const { world } = commandWorld(test.noColor === undefined ? {} : { NO_COLOR: test.noColor });
    const terminals: readonly string[] = test.terminals;

    const colors = colorsFor(test.stream, {
      ...world,
      outIsTerminal: terminals.includes("out"),
      errIsTerminal: terminals.includes("err"),
    });

    expect(colors).toBe(test.colors);
  });
});
