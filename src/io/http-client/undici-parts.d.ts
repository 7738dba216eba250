// Importing all of undici, with its caches, mocks and WebSockets, takes 8 MB more than this part. undici's version is pinned,
// because the path of the part may change.

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export = Agent;
}
