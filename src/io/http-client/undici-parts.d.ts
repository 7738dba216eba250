// All of undici takes 8 MB more than these parts: it has caches, mocks and WebSockets. Its version is pinned, since it does not
// promise these paths.

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";
  export = Agent;
}

declare module "undici/lib/core/errors.js" {
  import { errors } from "undici";
  export = errors;
}
