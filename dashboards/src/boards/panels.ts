import { BigValueColorMode, BigValueGraphMode, VisibilityMode } from "@grafana/grafana-foundation-sdk/common";
import {
  type DashboardBuilder,
  FieldColorBuilder,
  FieldColorModeId,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as StateTimelineBuilder } from "@grafana/grafana-foundation-sdk/statetimeline";
import { PanelBuilder as TableBuilder } from "@grafana/grafana-foundation-sdk/table";
import { PanelBuilder as GraphBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { DATASOURCE, now, overTime } from "./query.ts";
import { statusMappings, statusRankQuery } from "./status-ranks.ts";

export type AnyPanel = Parameters<DashboardBuilder["withPanel"]>[0];

interface PanelOptions {
  readonly title: string;
  /** What it shows and how to read it. */
  readonly description: string;
  /** A unit id of Grafana. */
  readonly unit: string;
}

/** A colour from each value upwards; green below the first. */
export type Steps = readonly (readonly [from: number, color: string])[];

/** A single number. Without `steps` it has no colour. */
export function stat(options: PanelOptions & { readonly expr: string; readonly steps?: Steps }): StatBuilder {
  const { title, description, unit, expr, steps } = options;
  return new StatBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .withTarget(now(expr, title))
    .unit(unit)
    .thresholds(thresholds(steps ?? [], steps === undefined ? "text" : "green"))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .height(4)
    .span(4);
}

/** A graph; the caller adds the queries. */
export function graph({ title, description, unit }: PanelOptions): GraphBuilder {
  return new GraphBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .height(9)
    .span(12);
}

/** A table that joins the columns of its queries; the caller adds them, in the order of the columns. */
export function table(
  options: PanelOptions & {
    /**
     * Column → heading, in order; other columns are hidden. Grafana names the values `Value #refId`, or `Value` if there is only one
     * query.
     */
    readonly headings: Readonly<Record<string, string>>;
    /** Heading to sort by, and which end comes first. */
    readonly sortBy: string;
    readonly first?: "highest" | "lowest";
  },
): TableBuilder {
  const { title, description, unit, headings, sortBy, first = "highest" } = options;
  return new TableBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .filterable(true)
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
    .withTransformation({ id: "sortBy", options: { sort: [{ field: sortBy, desc: first === "highest" }] } });
}

/** Statuses over time as colours, one row for each combination of `by`. */
export function statusTimeline(
  options: Omit<PanelOptions, "unit"> & {
    readonly selector: string;
    readonly by: string;
    readonly legend: string;
  },
): StateTimelineBuilder {
  const { title, description, selector, by, legend } = options;
  return new StateTimelineBuilder()
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .withTarget(overTime(statusRankQuery(selector, by), legend))
    .unit("none")
    .mappings(statusMappings())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(thresholds([], "text"))
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
