import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { shareNext } from "../../src/io/share-next.ts";

describe("shareNext()", () => {
  it("shares one next run among all callers of the current run, and starts it when the current run ends", async () => {
    const { runs, ask } = manual();
    const first = ask();
    await turn();
    expect(runs).toHaveLength(1);
    const others = [ask(), ask(), ask()];
    await turn();
    expect(runs).toHaveLength(1);

    runs[0]?.resolve("first");
    await turn();
    expect(runs).toHaveLength(2);
    runs[1]?.resolve("second");

    expect(await first).toBe("first");
    expect(await Promise.all(others)).toEqual(["second", "second", "second"]);
    expect(runs).toHaveLength(2);
    void ask();
    await turn();
    expect(runs).toHaveLength(3);
  });

  it("never has two runs at once, whenever it is called", async () => {
    let underWay = 0;
    let most = 0;
    const ask = shareNext(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await turn();
      underWay -= 1;
    });

    const asked: Promise<void>[] = [];
    for (let time = 0; time < 50; time += 1) {
      asked.push(ask());
      // Before, between or after the callbacks of the end of a run.
      for (let wait = 0; wait < time % 7; wait += 1) {
        await Promise.resolve();
      }
    }
    await Promise.all(asked);

    expect(most).toBe(1);
  });

  it("rejects only the callers that shared the failed run", async () => {
    const { runs, ask } = manual();
    const first = ask();
    await turn();
    const second = ask();

    runs[0]?.reject(new Error("A bug"));
    await expect(first).rejects.toThrow("A bug");
    await turn();
    runs[1]?.resolve("second");

    expect(await second).toBe("second");
  });
});

interface ManualRun {
  readonly resolve: (result: string) => void;
  readonly reject: (error: Error) => void;
}

/** Runs that end when the test says so. */
function manual(): { readonly runs: readonly ManualRun[]; readonly ask: () => Promise<string> } {
  const runs: ManualRun[] = [];
  const ask = shareNext(
    () =>
      new Promise<string>((resolve, reject) => {
        runs.push({ resolve, reject });
      }),
  );
  return { runs, ask };
}
