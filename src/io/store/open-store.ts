import type { StoreSettings } from "../../config/config.ts";
import type { World } from "../world.ts";
import type { RedisStore } from "./redis-store.ts";

/** Connects to the store. Its client takes memory and time, so it is loaded only with a store. */
export async function openStore(
  settings: StoreSettings,
  world: Pick<World, "logger" | "random">,
): Promise<RedisStore> {
  const { RedisStore } = await import("./redis-store.ts");
  return await RedisStore.open(settings, world);
}
