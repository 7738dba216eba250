import type { SharedCause } from "../incidents/incidents.ts";
import { targetName } from "../model/fleet.ts";
import { type Incident, incidentKey, isGone, type Report, type TargetReport } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { type JudgedPair, judgeReport, needsAction, worst } from "./severity.ts";

interface IncidentsInput extends Pick<Report, "chains" | "parity" | "targets"> {
  readonly causes: readonly SharedCause[];
  /** The incidents of the previous report: a running incident keeps its start time. */
  readonly previous: readonly Incident[];
  readonly nowMs: number;
}

type Found = Pick<Incident, "kind" | "scope" | "subject" | "detail" | "targets">;

/**
 * All incidents: the shared causes; then pairs and single targets in trouble that no cause explains. Each target in trouble is
 * in one of them, so there is an incident whenever a person should look. An incident continues while one of its
 * targets is unknown. A target that has ended and is gone is a calm incident: somebody should know, but nobody needs to look.
 */
export function incidentsOf({ causes, previous, nowMs, ...report }: IncidentsInput): readonly Incident[] {
  const { pairs, targets: severities } = judgeReport({ ...report, incidents: [] });
  const severityOf = (keys: readonly string[]) => worst(keys.flatMap((key) => severities.get(key) ?? []));
  if (causes.some(({ scope }) => scope === "network")) {
    return causes.map((one) => ({ ...one, severity: "critical" }));
  }
  const explained = new Set(causes.flatMap(({ targets }) => targets));
  const isOpen = ({ key }: TargetReport) =>
    !explained.has(key) && needsAction(severities.get(key) ?? "unknown");
  const known = new Map(previous.map((one) => [incidentKey(one), one]));
  const gone = report.targets.filter(
    (target) => isGone(target) && target.status !== "unknown" && !explained.has(target.key),
  );
  const found = pairs
    .flatMap((pair) => incidentsOfPair(pair, pair.targets.filter(isOpen)))
    .concat(
      gone.map(({ key, status }) => incident("target", key, `has ended and is ${status.replace("_", " ")}`)),
    )
    .map((one) => ({ ...one, since: known.get(incidentKey(one))?.since ?? isoTime(nowMs) }));
  const foundKeys = new Set(found.map(incidentKey));
  const unknown = new Set(report.targets.filter(({ status }) => status === "unknown").map(({ key }) => key));
  const lasting = previous.filter(
    (one) =>
      one.kind !== "cause" &&
      !foundKeys.has(incidentKey(one)) &&
      one.targets.some((key) => unknown.has(key) && !explained.has(key)),
  );
  return [...causes, ...found, ...lasting].map((one) => ({ ...one, severity: severityOf(one.targets) }));
}

/** One incident for the trouble of the pair as a whole, and one for each other target in trouble. */
function incidentsOfPair(pair: JudgedPair, open: readonly TargetReport[]): readonly Found[] {
  const { trouble, affected } = troubleOfPair(pair, open);
  const shared = affected.map(({ key }) => key);
  const others = open.filter((target) => !affected.includes(target));
  return [
    ...(shared.length === 0
      ? []
      : [incident("pair", `${pair.protocol}/${pair.chain.slug}`, trouble, shared)]),
    ...others.map(({ key, status }) =>
      incident(
        "target",
        key,
        status === "ok" && pair.differing.has(key) ? "serves wrong data" : `is ${status}`,
      ),
    ),
  ];
}

const NO_USABLE_VARIANT = "has no usable variant";

/** Whether an incident says that no variant of its pair is usable. */
export function isPairDown({ kind, detail }: Incident): boolean {
  return kind === "pair" && detail.endsWith(NO_USABLE_VARIANT);
}

/** What is wrong with a pair as a whole, and for which of its targets. */
function troubleOfPair({ chain, differing, state }: JudgedPair, open: readonly TargetReport[]) {
  if (state === "down") {
    return { trouble: NO_USABLE_VARIANT, affected: open };
  }
  if (chain.dispute !== null) {
    return { trouble: "has sources that contradict each other", affected: open };
  }
  const unequal = open.filter(({ key }) => differing.has(key));
  return { trouble: "has variants with different data", affected: unequal.length > 1 ? unequal : [] };
}

function incident(kind: "pair" | "target", subject: string, trouble: string, targets = [subject]): Found {
  const name = kind === "pair" ? subject : targetName({ key: subject });
  return { kind, scope: kind, subject, detail: `${name} ${trouble}`, targets };
}
