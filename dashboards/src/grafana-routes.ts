import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { yamlFile } from "./prometheus-rules.ts";

const ALERTMANAGER = new URL("../../deploy/alertmanager.yml", import.meta.url);

/** Prefix of names in Grafana, so that they do not collide with existing ones. */
const PREFIX = "synclag-";
const webhook = z.object({ url: z.string(), send_resolved: z.boolean().default(true) });
const interval = z.object({ name: z.string(), time_intervals: z.array(z.unknown()) });
const route = z.object({
  receiver: z.string(),
  matchers: z.array(z.string()).default([]),
  active_time_intervals: z.array(z.string()).default([]),
  group_by: z.array(z.string()).optional(),
  group_wait: z.string().optional(),
  group_interval: z.string().optional(),
  repeat_interval: z.string().optional(),
});
const alertmanagerSchema = z.object({
  route: route.extend({ routes: z.array(z.strictObject(route.shape)) }),
  time_intervals: z.array(interval),
  receivers: z.array(z.object({ name: z.string(), webhook_configs: z.array(webhook) })),
});

type Alertmanager = z.infer<typeof alertmanagerSchema>;
type Route = z.infer<typeof route>;

/** dashboards/grafana-alerts/contact-points.yml: the receivers and routes of deploy/alertmanager.yml for Grafana. */
export function renderGrafanaRoutes(): string {
  const alertmanager = alertmanagerSchema.parse(parse(readFileSync(ALERTMANAGER, "utf8")));
  const { routes, ...root } = alertmanager.route;
  return yamlFile(
    "The receivers and routes of deploy/alertmanager.yml for Grafana-managed alerts: replace the receivers with yours.\n" +
      "# Provisioned policies replace the whole policy tree of the organization: merge them into an existing one.",
    {
      apiVersion: 1,
      contactPoints: alertmanager.receivers.map(contactPoint),
      muteTimes: alertmanager.time_intervals.map(({ name, time_intervals }) => ({
        orgId: 1,
        name: PREFIX + name,
        time_intervals,
      })),
      policies: [{ orgId: 1, ...policy(root), routes: routes.map(policy) }],
    },
    // Some YAML readers do not take `=` and `08:00` for strings.
    "QUOTE_DOUBLE",
  );
}

function contactPoint({ name, webhook_configs }: Alertmanager["receivers"][number]): object {
  const uid = PREFIX + name;
  const receivers = webhook_configs.map(({ url, send_resolved }) => ({
    uid,
    type: "webhook",
    ...(send_resolved ? {} : { disableResolveMessage: true }),
    settings: { url },
  }));
  return { orgId: 1, name: uid, receivers };
}

function policy({ receiver, matchers, active_time_intervals, ...timing }: Route): object {
  return {
    receiver: PREFIX + receiver,
    ...(matchers.length === 0 ? {} : { object_matchers: matchers.map(objectMatcher) }),
    ...(active_time_intervals.length === 0
      ? {}
      : { active_time_intervals: active_time_intervals.map((name) => PREFIX + name) }),
    ...timing,
  };
}

/** `severity="critical"` as the three strings that Grafana expects. */
function objectMatcher(matcher: string): readonly string[] {
  const [, name, operator, value] = /^(\w+)\s*(=~|!~|!=|=)\s*"(.*)"$/.exec(matcher) ?? [];
  if (name === undefined || operator === undefined || value === undefined) {
    throw new Error(`Cannot read matcher ${JSON.stringify(matcher)}: expected NAME="VALUE"`);
  }
  return [name, operator, value];
}
