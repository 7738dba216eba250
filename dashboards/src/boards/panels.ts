import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  type DashboardBuilder,
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as StateTimelineBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TableBuilder } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as GraphBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { STATUSES_BY_URGENCY, type Status } from "../../../src/core/model/statuses.ts";

export type AnyPanel = Parameters<DashboardBuilder["withPanel"]>[0];

/** The data source, a variable of the dashboard that its reader selects. */
export const DATASOURCE = { type: "prometheus", uid: "$datasource" } as const;

/** An expression and the text of its legend. */
export type Line = readonly [expr: string, legend: string];

/** A colour from each value upwards. */
export type Steps = readonly (readonly [from: number, color: string])[];

/** For `stat`, which is green below the first value. */
export function rising(yellow: number, red: number): Steps {
  return [
    [yellow, "yellow"],
    [red, "red"],
  ];
}

export function redBelow(least: number): Steps {
  return [
    [0, "red"],
    [least, "green"],
  ];
}

// Every panel has a description of what it shows and how to read it, and the id of a unit of Grafana.

/** A panel with a single number or a word: green below the first step; without steps, it has no colour. */
export function stat(
  title: string,
  description: string,
  unit: string,
  expr: string,
  steps?: Steps,
): StatBuilder {
  return new StatBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .withTarget(query(expr).legendFormat(title).instant())
    .unit(unit)
    .thresholds(thresholds(steps ?? [], steps === undefined ? "text" : "green"))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .height(4)
    .span(4);
}

/** Shows words instead of values. */
export function words(texts: Readonly<Record<string, string>>): ValueMapping {
  return mapping(Object.entries(texts).map(([value, text]) => ({ value, text })));
}

/** Lines over time, with the last value of each in the legend. */
export function graph(
  title: string,
  description: string,
  unit: string,
  ...lines: readonly Line[]
): GraphBuilder {
  return new GraphBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .targets(lines.map(([expr, legend]) => query(expr).legendFormat(legend).range()))
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(["lastNotNull"])
        .sortBy("Last *")
        .sortDesc(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .height(10)
    .span(12);
}

/** Like `graph`, but with stacked bars. */
export function bars(...of: Parameters<typeof graph>): GraphBuilder {
  return graph(...of)
    .drawStyle(GraphDrawStyle.Bars)
    .fillOpacity(60)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
}

/** A reference line, drawn dashed and in grey. */
export const DASHED = [
  { id: "custom.lineStyle", value: { fill: "dash", dash: [8, 8] } },
  { id: "color", value: { mode: "fixed", fixedColor: "text" } },
];

/** Headings for labels: their names with a capital letter. */
export function headed(...labels: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(labels.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)]));
}

interface TableOptions {
  readonly unit: string;
  /** The heading of the column by which rows are sorted. */
  readonly sortBy: string;
  /** Which end of that column comes first. Default: the highest. */
  readonly first?: "highest" | "lowest";
}

/**
 * A table with a row for each set of labels. `columns`: expressions by reference id. `headings`: the shown labels and values, in
 * order, with their headings. Grafana names the values `Value #refId`, or `Value` if there is only one query.
 */
export function table(
  title: string,
  description: string,
  columns: Readonly<Record<string, string>>,
  headings: Readonly<Record<string, string>>,
  { unit, sortBy, first = "highest" }: TableOptions,
): TableBuilder {
  return new TableBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .filterable(true)
    .targets(
      Object.entries(columns).map(([refId, expr]) =>
        query(expr).refId(refId).format(PromQueryFormat.Table).instant(),
      ),
    )
    .withTransformation({ id: "merge", options: {} })
    .withTransformation({
      id: "filterFieldsByName",
      options: { include: { names: Object.keys(headings) } },
    })
    .withTransformation({
      id: "organize",
      options: {
        indexByName: Object.fromEntries(Object.keys(headings).map((name, index) => [name, index])),
        renameByName: headings,
      },
    })
    .withTransformation({ id: "sortBy", options: { sort: [{ field: sortBy, desc: first === "highest" }] } })
    .span(24);
}

/** Statuses over time as colours, with a row for each series of ranks. */
export function statusTimeline(title: string, description: string, line: Line): StateTimelineBuilder {
  // The colour scheme is fixed: with thresholds, Grafana ignores the mappings and shows one grey block.
  return new StateTimelineBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .targets([query(line[0]).legendFormat(line[1]).range()])
    .unit("none")
    .mappings(STATUS_MAPPINGS)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Fixed))
    .showValue(VisibilityMode.Never)
    .mergeValues(true)
    .rowHeight(0.85)
    .fillOpacity(80)
    .height(14)
    .span(24);
}

export function thresholds(steps: Steps, base: string): ThresholdsConfigBuilder {
  const all: Threshold[] = [
    { value: null, color: base },
    ...steps.map(([value, color]) => ({ value, color })),
  ];
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(all);
}

/** A link on the values of a column. */
export function columnLink(title: string, url: string): { id: string; value: unknown } {
  return { id: "links", value: [{ title, url }] };
}

export function query(expr: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr);
}

/** Colour names of Grafana's palette: readable on light and on dark. */
const COLORS: Readonly<Record<Status, string>> = {
  ok: "green",
  unknown: "text",
  syncing: "blue",
  chain_halted: "purple",
  throttled: "light-yellow",
  lagging: "yellow",
  stalled: "red",
  unreachable: "orange",
  rejected: "red",
  not_found: "orange",
  missing: "orange",
  failed: "dark-red",
  diverged: "dark-red",
};

function mapping(
  all: readonly { readonly value: string; readonly text: string; readonly color?: string }[],
): ValueMapping {
  const options = all.map(({ value, ...shown }, index) => [value, { ...shown, index }] as const);
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}

/** Maps the ranks of `synclag_status_rank` to names and colours. */
export const STATUS_MAPPINGS: ValueMapping[] = [
  mapping(
    STATUSES_BY_URGENCY.map((status, rank) => ({
      value: String(rank),
      text: status,
      color: COLORS[status],
    })),
  ),
];
