import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";

/** A variable of the dashboard: the data source is selected by whoever imports it. */
export const DATASOURCE = { type: "prometheus", uid: "$datasource" } as const;

/** Selector of the targets that the variables select. */
export const SELECTED_TARGETS = 'protocol=~"$protocol", variant=~"$variant", chain=~"$chain"';

/** A range query. */
export function overTime(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).range();
}

/** An instant query. */
export function now(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).instant();
}

/**
 * An instant query for one column of a table; `refId` names the column for the transformations of the table, which joins columns
 * by their labels.
 */
export function column(refId: string, expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId(refId)
    .expr(expr)
    .format(PromQueryFormat.Table)
    .instant();
}
