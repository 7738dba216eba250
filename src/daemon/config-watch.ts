import type { World } from "../io/world.ts";

/** Soon enough for people; Kubernetes itself takes up to a minute to update a mounted ConfigMap. */
const INTERVAL_MS = 2_000;

/** Reloads whenever the files of the configuration have changed, where the world watches them. */
export function startConfigWatch(
  reload: () => Promise<unknown>,
  { hasConfigChanged, onBug }: Pick<World, "hasConfigChanged" | "onBug">,
): AsyncDisposable {
  let reloading: Promise<unknown> | null = null;

  const timer = setInterval(() => {
    if (reloading === null && hasConfigChanged?.() === true) {
      reloading = reload()
        .catch(onBug)
        .finally(() => {
          reloading = null;
        });
    }
  }, INTERVAL_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await reloading;
    },
  };
}
