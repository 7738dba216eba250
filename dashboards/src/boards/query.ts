import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";

/** The dashboard's own variable: whoever imports it chooses the data source. */
export const DATASOURCE = { type: "prometheus", uid: "$datasource" } as const;

/** What the variables at the top select, of metrics that speak of a target. */
export const SELECTED_TARGETS = 'protocol=~"$protocol", variant=~"$variant", chain=~"$chain"';

/** A line for each series over time. */
export function overTime(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).range();
}

/** One number for each series, now. */
export function now(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).instant();
}

/**
 * One column of a table, now; `refId` names the column for the table's transformations. The columns must have the
 * same labels: a table joins them by their labels.
 */
export function column(refId: string, expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId(refId)
    .expr(expr)
    .format(PromQueryFormat.Table)
    .instant();
}
