import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { getText } from "./support/loopback.ts";
import { runProgram } from "./support/program.ts";
import { eachSecond, type PrometheusServer, startPrometheus } from "./support/prometheus-server.ts";
import { type Synclag, startDemo } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DASHBOARDS = filesIn("dashboards", ".json");
const RULES = filesIn("dashboards/rules", ".yml");
/** The same, evaluated ten times as often: some are evaluated every five minutes. */
const QUICK_RULES = filesIn("deploy/demo/rules", ".yml");
const RULE_TESTS = filesIn("dashboards/rules/tests", ".yml");
/** Blocks by which a gateway's answers jump, as the indexers behind it take turns: so many in an event of the demo. */
const WOBBLE = 60;
const SETTLE = { timeout: 120_000, interval: 500 };

const boardSchema = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
  ),
  annotations: z.object({ list: z.array(z.object({ name: z.string(), expr: z.string() })) }),
});
const QUERIES = DASHBOARDS.flatMap((file) => {
  const { panels, annotations } = boardSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  return [
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr }))),
    ...annotations.list.map(({ name, expr }) => ({ title: `annotation ${name}`, expr })),
  ];
});
/** Of `parity` and of several replicas, which the demo has not, and of what happens now and then. */
const OPTIONAL = /synclag_(parity|leader|store_up)|^annotation/;

/** The built program, and the files as they are committed. What the alerts do is told by alerts.test.ts. */
describe("a real Prometheus that scrapes the demo", () => {
  let demo: Synclag;
  let prometheus: PrometheusServer;

  const heights = async (): Promise<ReadonlyMap<string, number>> => {
    const { targets } = await demo.report();
    return new Map(
      targets.flatMap((target) =>
        target.block_number === null ? [] : [[targetOf(target), target.block_number] as const],
      ),
    );
  };

  beforeAll(async () => {
    const folder = await temporaryFolder("prometheus");
    demo = await startDemo(["--speed", "4"]);
    const config = eachSecond(new URL(demo.url).host, QUICK_RULES);
    prometheus = await startPrometheus({ folder, config });
    await vi.waitFor(async () => {
      // A rate needs a few scrapes.
      expect(await prometheus.query("count_over_time(synclag_build_info[1m]) >= 5")).not.toEqual([]);
    }, SETTLE);
  });

  it("gives back the height of every target, between what the daemon said before and after", async () => {
    const lows = await heights();
    const sinceSec = Date.now() / 1_000;
    const atSec = await vi.waitFor(async () => {
      const newest = await prometheus.query("max(timestamp(synclag_up))");
      expect(newest[0]?.value).toBeGreaterThan(sinceSec);
      return newest[0]?.value ?? 0;
    }, SETTLE);
    const series = await prometheus.query("synclag_block_number", atSec);
    const highs = await heights();

    const stored = new Map(series.map(({ labels, value }) => [targetOf(labels), value]));
    const compared = [...lows].flatMap(([target, low]) => {
      const [height, high] = [stored.get(target), highs.get(target)];
      // The demo has faults: a height may be unknown at the scrape, or afterwards.
      return height === undefined || high === undefined ? [] : [{ target, low, height, high }];
    });
    const isBetween = ({ low, height, high }: (typeof compared)[number]): boolean =>
      height >= Math.min(low, high) - WOBBLE && height <= Math.max(low, high) + WOBBLE;
    expect(compared.length).toBeGreaterThan(100);
    expect(compared.filter((one) => !isBetween(one))).toEqual([]);
  });

  it("leaves promtool check metrics nothing to say", async () => {
    const input = await getText(`${demo.url}/metrics`);

    expect(await runProgram({ command: "promtool", args: ["check", "metrics"], input })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it.each([
    { command: "promtool", args: ["check", "rules", ...RULES] },
    ...RULE_TESTS.map((file) => ({ command: "promtool", args: ["test", "rules", file] })),
    { command: "amtool", args: ["check-config", join(ROOT, "deploy/alertmanager.yml")] },
  ])("passes $command $args.0 $args.1", async ({ command, args }) => {
    const { code, stdout, stderr } = await runProgram({ command, args });

    expect({ code, output: code === 0 ? "" : `${stdout}${stderr}` }).toEqual({ code: 0, output: "" });
  });

  it("has data for each query of the dashboards, and evaluates the queries without data in the demo", async () => {
    const empty = async (): Promise<readonly string[]> => {
      const answers = await Promise.all(
        QUERIES.map(async (query) => ({ query, found: await prometheus.query(inGrafana(query.expr)) })),
      );
      return answers
        .filter(({ found }) => found.length === 0)
        .map(({ query }) => `${query.title}: ${query.expr}`);
    };

    await expect
      .poll(async () => (await empty()).filter((query) => !OPTIONAL.test(query)), SETTLE)
      .toEqual([]);
  });

  it("evaluates all rules", async () => {
    const notOk = async () =>
      (await getText(`${prometheus.url}/api/v1/rules`)).match(/"health":"(?!ok")\w+/g);

    await expect.poll(notOk, SETTLE).toBeNull();
  });
});

/** What Grafana asks when every variable stands on "All". */
function inGrafana(expression: string): string {
  return expression
    .replaceAll(/\$__(rate_interval|range)\b/g, "10s")
    .replaceAll(/\$(cluster|job|protocol|tier|variant|chain|endpoint|instance)\b/g, ".*");
}

function targetOf(labels: {
  readonly protocol?: string;
  readonly variant?: string;
  readonly tier?: string;
  readonly chain?: string;
}): string {
  return [labels.protocol, labels.variant, labels.tier, labels.chain].join("/");
}

function filesIn(folder: string, extension: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(extension));
  return names.map((name) => join(ROOT, folder, name));
}
