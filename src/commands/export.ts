import { basename, join } from "node:path";
import { LINK, webLink } from "../config/values.ts";
import { formatList } from "../core/model/text.ts";
import { type CommandWorld, cannotUse, EXIT, type Flags, writeOutput } from "./command-world.ts";

const RULES = ["dashboards/rules/synclag-alerts.yml", "dashboards/rules/synclag-recording.yml"];
const ALERTMANAGER = "deploy/alertmanager.yml";

/** The files in the package by the name of an export. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  rules: RULES,
  grafana: ["dashboards/grafana-alerts/rules.yml", "dashboards/grafana-alerts/contact-points.yml"],
  dashboards: ["fleet", "chain", "endpoint", "itself"].map((name) => `dashboards/synclag-${name}.json`),
  alertmanager: [ALERTMANAGER],
  compose: ["deploy/fleet/compose.yaml", "deploy/prometheus.yml", ALERTMANAGER, ...RULES],
  systemd: ["deploy/synclag.service"],
};

/** The settings of dashboards/src/settings.ts, as the files of the package contain them. An export replaces them. */
const RENDERED = {
  grafana: "http://localhost:3000",
  url: "http://localhost:9855",
  job: 'job=~".*"',
  scrape: "job_name: synclag",
} as const;
const RUNBOOKS = /(?<=runbook_url: )\S+(?=\/Synclag\w+\.md)/g;
/** Matches the part of a condition by which an alert about a testnet becomes a ticket; the group is the rest of the condition. */
const OR_TESTNET = /or \(eq \S+\.testnet "true"\) \((and [^}]+)\) (?=\}\})/g;
/** Also matches series without the label. */
const NO_TESTNET = 'testnet!="true"';

/**
 * `synclag export`: writes alert rules, dashboards, an example for Alertmanager, a compose file or a systemd unit, with the links
 * and the selector of the options, and prints the names of the files.
 *
 * @throws {CommandError} If an option is invalid, or a file cannot be written.
 */
export function exportFiles(flags: Flags, world: CommandWorld, [what = ""]: readonly string[]): number {
  const adapt = adapter(flags);
  const texts = (FILES[what] ?? []).map((file) => {
    const text = adapt(world.readFile(`${world.packageRoot}${file}`));
    const path = join(flags.output, basename(file));
    writeOutput(path, text);
    world.out(path);
    return text;
  });
  const unset = Object.entries({ "--url": RENDERED.url, "--grafana": RENDERED.grafana })
    .filter(([, link]) => texts.some((text) => text.includes(link)))
    .map(([option]) => option);
  if (unset.length > 0) {
    world.err(`Some links lead to localhost: set them with ${formatList(unset)}`);
  }
  if (texts.some((text) => text.includes("active_time_intervals"))) {
    world.err(
      "Tickets are sent from Monday to Friday, 08:00 to 18:00 UTC; remove active_time_intervals to send them at once",
    );
  }
  return EXIT.ok;
}

/** Replaces the settings that the files were rendered with. */
function adapter({ runbooks, grafana, url, testnets, job }: Flags): (text: string) => string {
  const selector = [
    job === undefined ? RENDERED.job : `job="${checkedJob(job)}"`,
    ...(testnets === "none" ? [NO_TESTNET] : []),
  ].join(", ");
  const replacements = [
    [RENDERED.job, selector],
    [RENDERED.scrape, `job_name: ${job ?? "synclag"}`],
    [RUNBOOKS, checkedUrl("--runbooks", runbooks)],
    [RENDERED.grafana, checkedUrl("--grafana", grafana)],
    [RENDERED.url, checkedUrl("--url", url)],
  ] as const;
  return (text) => {
    const adapted = replacements.reduce(
      (before, [rendered, own]) => (own === null ? before : before.replaceAll(rendered, () => own)),
      text,
    );
    return testnets === "page" ? adapted.replaceAll(OR_TESTNET, "$1 ") : adapted;
  };
}

/** The value of an option, without a slash at its end; null without the option. */
function checkedUrl(option: string, value: string | undefined): string | null {
  if (value === undefined) {
    return null;
  }
  const { data } = webLink(LINK).safeParse(value);
  if (data === undefined || !URL.canParse(data)) {
    throw cannotUse(option, value, LINK);
  }
  return data;
}

/** Refuses a name that would need escaping: it is written into PromQL, YAML and templates as it is. */
function checkedJob(job: string): string {
  if (!/^[\w./:-]+$/.test(job)) {
    throw cannotUse("--job", job, "letters, digits, and any of _ . / : -");
  }
  return job;
}
