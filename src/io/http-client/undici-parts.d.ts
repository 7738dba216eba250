// All of undici takes 8 MB more than this part: it has caches, mocks and WebSockets. Its version is pinned, because undici does
// not promise this path.

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export = Agent;
}
