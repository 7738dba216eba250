import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { Settings } from "../settings.ts";
import type { DashboardLink } from "../text.ts";
import { type AnyPanel, DATASOURCE } from "./panels.ts";

/** A dashboard, before it is rendered. */
export interface Board {
  readonly uid: DashboardLink["uid"];
  readonly title: string;
  readonly description: string;
  /** In addition to the variables of every board. */
  readonly variables: readonly Variable[];
  /** The path of Synclag's page about the same subject. Default: the status page. */
  readonly page?: string;
  readonly annotations: readonly Annotation[];
  readonly rows: readonly { readonly title: string; readonly panels: readonly AnyPanel[] }[];
}

/** A variable of a dashboard: the values of a label. */
interface Variable {
  readonly name: string;
  readonly label: string;
  /** The metric whose label has the values. */
  readonly metric: string;
  /**
   * How many values the reader selects: `one`, or `any` number, by default all. `any or none` also selects series without the
   * label.
   */
  readonly choice: "any" | "any or none" | "one";
}

const ofTargets = (name: string, label: string): Variable => ({
  name,
  label,
  metric: "synclag_up",
  choice: "any",
});

/** The variables of every board: they select among several Synclags. Only some Prometheus configurations add the label `cluster`. */
const SYNCLAGS: readonly Variable[] = [
  { name: "cluster", label: "Cluster", metric: "synclag_build_info", choice: "any or none" },
  { name: "job", label: "Job", metric: "synclag_build_info", choice: "any" },
];
export const PROTOCOL = ofTargets("protocol", "Protocol");
export const CHAIN = ofTargets("chain", "Chain");
export const VARIANT = ofTargets("variant", "Variant");
export const TIER = ofTargets("tier", "Tier");

/** Selects the series of the selected Synclags. */
export const SELECTED_JOBS = 'cluster=~"$cluster", job=~"$job"';
/** Selects the series of the targets that the variables select. */
export const SELECTED_TARGETS = `${SELECTED_JOBS}, protocol=~"$protocol", tier=~"$tier", variant=~"$variant", chain=~"$chain"`;

/** Events that every graph of a board marks. There is an event wherever the expression is above 0. */
interface Annotation {
  readonly name: string;
  readonly expr: string;
  readonly text: string;
  readonly color: string;
  /** Whether the marks are shown at first. Many marks would hide the graphs. */
  readonly shown: boolean;
}

export const RELOADS: Annotation = {
  name: "Reloads",
  expr: `changes(synclag_config_last_reload_success_timestamp_seconds{${SELECTED_JOBS}}[1m]) > 0`,
  text: "{{instance}} has loaded its configuration",
  color: "blue",
  shown: true,
};
const DEPLOYMENTS: Annotation = {
  name: "Deployments",
  expr: `increase(synclag_deployment_changes_total{${SELECTED_TARGETS}}[1m]) > 0`,
  text: "{{protocol}} {{variant}} ({{tier}}) on {{chain}} serves another deployment",
  color: "purple",
  shown: true,
};
const STATUS_CHANGES: Annotation = {
  name: "Status changes",
  expr: `changes(synclag_status_rank{${SELECTED_TARGETS}}[1m]) > 0`,
  text: "{{protocol}} {{variant}} ({{tier}}) on {{chain}} has another status",
  color: "orange",
  shown: false,
};

/** Events that may explain a change of the targets. */
export const EVENTS = [RELOADS, DEPLOYMENTS, STATUS_CHANGES];

/** The URL of Synclag's own page. */
export const SYNCLAG_PAGE = variable("synclag");

const TAG = "synclag";

/** A reference to the value of a variable, for links. */
export function variable(name: string): string {
  return `\${${name}}`;
}

/** The file of a dashboard, for Grafana 11, 12 and 13. It is read-only, because the next import would overwrite changes. */
export function renderBoard(board: Board, { synclagUrl }: Settings): string {
  const { uid, title, description, variables, page = "", annotations, rows } = board;
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .readonly()
    .timezone("browser")
    .time({ from: "now-3h", to: "now" })
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .link(
      new DashboardLinkBuilder("Synclag's dashboards")
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .includeVars(true)
        .keepTime(true),
    )
    .link(
      new DashboardLinkBuilder("Status page")
        .type(DashboardLinkType.Link)
        .icon("external link")
        .tooltip("Synclag's own page, with explorers and playgrounds of the indexers")
        .url(`${SYNCLAG_PAGE}${page}`)
        .targetBlank(true),
    )
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"));
  for (const variable of [...SYNCLAGS, ...variables]) {
    builder.withVariable(labelVariable(variable));
  }
  builder.withVariable(
    new TextBoxVariableBuilder("synclag")
      .label("Synclag")
      .description("Address of Synclag's own page, for the links to it")
      .defaultValue(synclagUrl),
  );
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) {
      builder.withPanel(panel);
    }
  }
  const { panels = [], ...built } = builder.build();
  const marks = { list: annotations.map(annotation) };
  return `${JSON.stringify({ ...built, annotations: marks, panels: panels.map(identified) }, null, 2)}\n`;
}

/** An annotation as Grafana's JSON. The SDK has no annotations that query Prometheus. */
function annotation({ name, expr, text, color, shown }: Annotation): object {
  return {
    name,
    datasource: DATASOURCE,
    enable: shown,
    hide: false,
    iconColor: color,
    expr,
    step: "60s",
    titleFormat: name,
    textFormat: text,
  };
}

type BuiltPanel = NonNullable<ReturnType<DashboardBuilder["build"]>["panels"]>[number];

/** A panel and its queries with fixed ids, so that links to a panel stay valid. */
function identified(panel: BuiltPanel, index: number): BuiltPanel {
  const id = index + 1;
  if (!("targets" in panel)) {
    return { ...panel, id };
  }
  const targets = panel.targets.map((target, place) => ({
    refId: String.fromCharCode(65 + place),
    ...target,
  }));
  return { ...panel, id, targets };
}

function labelVariable({ name, label, metric, choice }: Variable): QueryVariableBuilder {
  const query = new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query(`label_values(${metric}, ${name})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
  return choice === "one"
    ? query
    : query
        .multi(true)
        .includeAll(true)
        .allValue(choice === "any" ? ".+" : ".*")
        .current({ text: "All", value: "$__all" });
}
