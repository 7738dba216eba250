import { describe, expect, it } from "vitest";
import { createCleanup } from "../../src/app/cleanup.ts";

function recorder(stopped: string[], name: string): Disposable {
  return {
    [Symbol.dispose]() {
      stopped.push(name);
    },
  };
}

describe("createCleanup()", () => {
  it("stops what was started last first", async () => {
    const stopped: string[] = [];
    const cleanup = createCleanup();
    cleanup.use(recorder(stopped, "first"));
    cleanup.use(recorder(stopped, "second"));

    await cleanup[Symbol.asyncDispose]();

    expect(stopped).toEqual(["second", "first"]);
  });

  it("goes on when one resource fails to stop, and tells at the end", async () => {
    const stopped: string[] = [];
    const cleanup = createCleanup();
    cleanup.use(recorder(stopped, "first"));
    cleanup.use({ [Symbol.asyncDispose]: () => Promise.reject(new Error("stuck")) });

    await expect(cleanup[Symbol.asyncDispose]()).rejects.toThrow("Cannot stop everything");

    expect(stopped).toEqual(["first"]);
  });

  it("does nothing the second time", async () => {
    const stopped: string[] = [];
    const cleanup = createCleanup();
    cleanup.use(recorder(stopped, "only"));

    await cleanup[Symbol.asyncDispose]();
    await cleanup[Symbol.asyncDispose]();

    expect(stopped).toEqual(["only"]);
  });
});
