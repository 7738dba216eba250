import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";

/** The dashboard's own variable: whoever imports it chooses the data source. */
export const DATASOURCE = { type: "prometheus", uid: "$datasource" } as const;

/** What the variables at the top select, of metrics that speak of a target. */
export const SELECTED_TARGETS = 'protocol=~"$protocol", variant=~"$variant", chain=~"$chain"';

/** The same of metrics that speak of an indexer or its endpoints, where a chain is no label. */
export const SELECTED_INDEXERS = 'protocol=~"$protocol", variant=~"$variant"';

/** A line for each series over time. */
export function overTime(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).range();
}

/** One number for each series, now. */
export function now(expr: string, legend: string): DataqueryBuilder {
  return new DataqueryBuilder().datasource(DATASOURCE).expr(expr).legendFormat(legend).instant();
}

/**
 * One column of a table of targets, now; `refId` names the column for the table's transformations.
 * All columns are brought to the same labels: a table joins its columns by them.
 */
export function column(refId: string, expr: string): DataqueryBuilder {
  return new DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId(refId)
    .expr(`max by (protocol, variant, tier, chain) (${expr})`)
    .format(PromQueryFormat.Table)
    .instant();
}
