import { describe, expect, it } from "vitest";
import { FairTurns } from "../../src/io/fair-turns.ts";

describe("FairTurns", () => {
  it("counts the last task of an owner until it has ended", async () => {
    const turns = new FairTurns();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const first = turns.run("one", () => undefined);
    const last = turns.run("one", () => ended);

    await first;
    const during = turns.waiting("one");
    end();
    await last;

    expect({ during, after: turns.waiting("one") }).toEqual({ during: 1, after: 0 });
  });
});
