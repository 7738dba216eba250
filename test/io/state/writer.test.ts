import { afterEach, beforeEach, it, vi } from "vitest";
import { DebouncedWriter } from "../../../src/io/state/writer.ts";
import { expectTold, verbIn } from "../../support/tell.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

// test/daemon/state/store.test.ts tests what is logged if the disk refuses.
it("DebouncedWriter writes as test/fixtures/debounced-writes.txt says", async () => {
  await expectTold("test/fixtures/debounced-writes.txt", startWriter);
});

function startWriter() {
  let [value, mode] = ["", "accepts"];
  const news: string[] = [];
  let letGo: () => void = () => undefined;
  const writer = new DebouncedWriter({
    delayMs: 4_500,
    write: async () => {
      const written = value;
      if (mode === "refuses") {
        throw new Error("no space left");
      }
      if (mode === "holds") {
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      }
      news.push(`wrote ${written}`);
    },
    onFailure: () => undefined,
    onRecovery: () => undefined,
  });
  const verbs: Readonly<Record<string, (word: string, ms: string | undefined) => unknown>> = {
    touch(next, ms) {
      value = next;
      writer.touch(ms === undefined ? undefined : Number(ms));
    },
    flush(next) {
      value = next;
      void writer.flush().then(
        () => news.push(`flushed ${next}`),
        (error: unknown) => news.push(`not flushed ${next}: ${String(error)}`),
      );
    },
    async dispose() {
      await writer[Symbol.asyncDispose]();
      news.push(`${vi.getTimerCount()} timers left`);
    },
    wait: (ms) => vi.advanceTimersByTimeAsync(Number(ms)),
    let: () => letGo(),
    disk(next) {
      mode = next;
    },
  };
  return {
    async do(line: string): Promise<readonly string[]> {
      const [verb = "", word = "", ms] = line.split(" ");
      await verbIn(verbs, verb)(word, ms);
      await vi.advanceTimersByTimeAsync(0);
      return news.splice(0);
    },
  };
}
