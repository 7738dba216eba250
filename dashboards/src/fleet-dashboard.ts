import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { overviewPanels } from "./overview-panels.ts";
import { DATASOURCE } from "./panel-query.ts";
import { heightPanels, pollPanels } from "./trend-panels.ts";

/** The dashboard that is committed as dashboards/synclag-fleet.json. */
export function fleetDashboard(): Dashboard {
  const builder = new DashboardBuilder("Synclag fleet")
    .uid("synclag-fleet")
    .description("Which indexer is behind, by how much, since when, and whether the other variant is better.")
    .tags(["synclag", "indexers"])
    .timezone("browser")
    .time({ from: "now-3h", to: "now" })
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(labelVariable("protocol", "Protocol"))
    .withVariable(labelVariable("chain", "Chain"))
    .withVariable(labelVariable("variant", "Variant"));

  const rows = [
    { title: "Now", panels: overviewPanels() },
    { title: "Heights, lag and gaps", panels: heightPanels() },
    { title: "Polling", panels: pollPanels() },
  ];
  for (const { title, panels } of rows) {
    builder.withRow(new RowBuilder(title));
    for (const panel of panels) {
      builder.withPanel(panel);
    }
  }
  return builder.build();
}

/** The text of the committed file. */
export function renderFleetDashboard(): string {
  return `${JSON.stringify(fleetDashboard(), null, 2)}\n`;
}

function labelVariable(name: string, label: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query(`label_values(synclag_up, ${name})`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(".*")
    .current({ text: "All", value: "$__all" });
}
