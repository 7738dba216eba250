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
import type { DashboardLink } from "../text.ts";
import type { AnyPanel } from "./panels.ts";
import { DATASOURCE } from "./query.ts";

/** What a dashboard consists of. */
export interface Board {
  readonly uid: DashboardLink["uid"];
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  /** The path of Synclag's own page on the same matter; without one, the status page. */
  readonly page?: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly AnyPanel[] }[];
}

/** A variable of a dashboard: the values of a label. */
export interface Variable {
  readonly name: string;
  readonly label: string;
  /** What has the label. */
  readonly metric: string;
  /** `any`: several at once, by default all; `one`: exactly one. */
  readonly choice: "any" | "one";
}

export const PROTOCOL: Variable = {
  name: "protocol",
  label: "Protocol",
  metric: "synclag_up",
  choice: "any",
};
export const CHAIN: Variable = { name: "chain", label: "Chain", metric: "synclag_up", choice: "any" };
export const VARIANT: Variable = { name: "variant", label: "Variant", metric: "synclag_up", choice: "any" };

/** Where Synclag itself is: its pages have the explorers and playgrounds of the indexers. */
export const SYNCLAG_PAGE = "$" + "{synclag}";

const TAG = "synclag";

/** The text of a dashboard's file, for Grafana 11, 12 and 13. */
export function renderBoard({ uid, title, description, variables, page = "", rows }: Board): string {
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
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
  for (const variable of variables) {
    builder.withVariable(labelVariable(variable));
  }
  builder.withVariable(
    new TextBoxVariableBuilder("synclag")
      .label("Synclag")
      .description("Address of Synclag's own page, for the links to it")
      .defaultValue("http://localhost:9855"),
  );
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) {
      builder.withPanel(panel);
    }
  }
  const { panels = [], ...board } = builder.build();
  return `${JSON.stringify({ ...board, panels: panels.map(identified) }, null, 2)}\n`;
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
    : query.multi(true).includeAll(true).allValue(".*").current({ text: "All", value: "$__all" });
}
