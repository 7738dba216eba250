import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { renderedFiles } from "../../dashboards/src/rendered-files.ts";
import { SETTINGS, type Settings } from "../../dashboards/src/settings.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const LINKS = [
  ...["--runbooks", "https://git.example/runbooks/"],
  ...["--grafana", "https://grafana.example"],
  ...["--url", "https://synclag.example"],
] as const;
const LINKED: Settings = {
  ...SETTINGS,
  runbooksUrl: "https://git.example/runbooks",
  grafanaUrl: "https://grafana.example",
  synclagUrl: "https://synclag.example",
};
const RENDERED = {
  rules: ["rules/synclag-alerts.yml", "rules/synclag-recording.yml"],
  grafana: ["grafana-alerts/rules.yml"],
  dashboards: ["fleet", "chain", "endpoint", "itself"].map((name) => `synclag-${name}.json`),
} as const;

const TICKETS =
  "Tickets are sent from Monday to Friday, 08:00 to 18:00 UTC; remove active_time_intervals to send them at once";
const PAGE = ["--testnets", "page"];
const NONE = ["--testnets", "none"];

describe("synclag export", () => {
  it.each<readonly [what: keyof typeof RENDERED, args: readonly string[], settings: Partial<Settings>]>([
    ["rules", [], {}],
    ["grafana", [], {}],
    ["dashboards", [], {}],
    ["rules", PAGE, { testnets: "critical" }],
    ["grafana", PAGE, { testnets: "critical" }],
    ["rules", ["--job", "eu/one"], { selector: 'job="eu/one"' }],
    ["rules", NONE, { selector: 'job=~".*", testnet!="true"' }],
    ["grafana", [...NONE, "--job", "one"], { selector: 'job="one", testnet!="true"' }],
  ])("writes %s with own links and %s as the generator does", async (what, args, settings) => {
    await using folder = await temporaryFolder();

    const result = await runCommand(["export", what, ...LINKS, ...args, "-o", `${folder.path}/new`]);

    const rendered = renderedFiles({ ...LINKED, ...settings });
    const paths = result.out.trim().split("\n");
    const texts = new Map(paths.map((path) => [basename(path), readFileSync(path, "utf8")]));
    expect({ ...result, out: "" }).toEqual({ exitCode: 0, out: "", err: what === "grafana" ? TICKETS : "" });
    expect([...texts.values()].join("")).not.toContain("localhost");
    for (const path of RENDERED[what]) {
      expect(texts.get(basename(path))).toBe(rendered.get(path));
    }
  });

  it.each([
    ["alertmanager", "deploy/alertmanager.yml"],
    ["grafana", "dashboards/grafana-alerts/contact-points.yml"],
    ["compose", "deploy/fleet/compose.yaml"],
    ["systemd", "deploy/synclag.service"],
  ])("writes for %s the example %s as it is", async (what, example) => {
    await using folder = await temporaryFolder();

    await runCommand(["export", what, "-o", folder.path]);

    expect(readFileSync(`${folder.path}/${basename(example)}`, "utf8")).toBe(readFileSync(example, "utf8"));
  });

  it("says when an example that delays tickets sends them", async () => {
    await using folder = await temporaryFolder();
    const links = ["--url", "https://synclag.example", "--grafana", "https://grafana.example"];

    const { err } = await runCommand(["export", "alertmanager", ...links, "-o", folder.path]);

    expect(err).toBe(TICKETS);
  });

  it("writes for compose each mounted file, the images of the demo, and one job", async () => {
    await using folder = await temporaryFolder();

    const { out } = await runCommand(["export", "compose", "--job", "eu", "-o", folder.path]);

    const written = out.split("\n");
    const texts = written.map((path) => readFileSync(path, "utf8"));
    const compose = texts.find((text) => text.includes("services:")) ?? "";
    const mounted = [...compose.matchAll(/- \.\/([\w.-]+):/g)].map(([, name]) => name);
    const images = [...compose.matchAll(/image: (prom\/.*)/g)].map(([, image = ""]) => image);
    const names = written.map((path) => basename(path)).filter((name) => name !== "compose.yaml");
    expect(mounted.toSorted()).toEqual(names.toSorted());
    expect(images).toHaveLength(2);
    for (const image of images) {
      expect(readFileSync("deploy/compose.yaml", "utf8")).toContain(image);
    }
    expect(texts.join("")).toContain("job_name: eu\n");
    expect(texts.join("")).not.toContain('job=~".*"');
  });
});
