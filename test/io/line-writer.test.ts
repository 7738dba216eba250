import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { lineWriter } from "../../src/io/line-writer.ts";

describe("lineWriter()", () => {
  it("has a bounded buffer for a reader that stalls, and says what was lost", () => {
    const read: string[] = [];
    const waiting: (() => void)[] = [];
    const stream = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        read.push(text);
        waiting.push(done);
      },
    });
    const write = lineWriter(stream);
    const line = "x".repeat(999);

    for (let count = 0; count < 10_000; count += 1) {
      write(line);
    }
    const held = stream.writableLength;
    while (stream.writableLength > 0) {
      waiting.shift()?.();
    }
    write("last");
    waiting.shift()?.();

    expect(held / (10_000 * 1_000)).toBeLessThan(0.2);
    expect(
      read.filter((text) => text === `${line}\n`).length + Number(/\d+/.exec(read.at(-2) ?? "")?.[0]),
    ).toBe(10_000);
    expect(read.at(-1)).toBe("last\n");
  });
});
