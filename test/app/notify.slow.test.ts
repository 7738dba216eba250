import { expect, it } from "vitest";
import { serve } from "../support/listener.ts";
import { configOf, scrape, startTestApp } from "../support/running-app.ts";
import { Webhook } from "../support/webhook.ts";

it("posts an incident of the running daemon to the webhook, and pings the dead man's switch", async () => {
  await using webhook = await Webhook.start();
  // Nothing listens on this port: all polls of both hosts fail.
  const closed = await serve(() => undefined);
  await closed[Symbol.asyncDispose]();
  const indexer = { dialect: "graph", schedule: "* * * * * *", chains: ["base"] };
  const config = configOf(
    JSON.stringify({
      version: 1,
      chains: { base: { id: 8453 } },
      protocols: {
        airdrops: ["127.0.0.1", "localhost"].map((host) => ({
          ...indexer,
          variant: host.replaceAll(".", "-"),
          url: `http://${host}:${closed.port}/`,
        })),
      },
      notify: { url: webhook.url },
      heartbeat: { url: webhook.url },
    }),
  );

  await using app = await startTestApp(config);

  const [first] = await webhook.untilReceived(1, "POST");
  await webhook.untilReceived(1, "GET");
  expect(first?.body).toMatchObject({
    version: 1,
    event: "incident_began",
    incident: { scope: "network" },
  });
  expect((await scrape(app)).get('synclag_notifications_total{result="failed"}')).toBe(0);
});
