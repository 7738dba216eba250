import type { Alert } from "../alert.ts";
import { outsideMaintenance, TARGET } from "../promql.ts";
import { label, say, TARGET_NAME, VARIANTS } from "../text.ts";
import { TARGET_ALERT } from "./target-alert.ts";

/**
 * Two variants have different data at one height. A ticket, never a page: the height is right, and nothing shows which of two
 * variants is wrong. Where one of them is not usable at all, there is no comparison, and it has an alert of its own.
 */
export function dataDiffers(): Alert {
  return {
    ...TARGET_ALERT,
    name: "SynclagDataDiffers",
    severity: "warning",
    expr: outsideMaintenance(`min by (${TARGET}, against, probe) (synclag_parity) == 0`),
    for: "15m",
    summary: [...TARGET_NAME, ...say` and ${label("against")} have different data (${label("probe")})`],
    description: [
      ...TARGET_NAME,
      ...say` and the variant ${label("against")} have different values of probe ${label("probe")} at one height, so users see different data depending on the variant. The page of the chain shows both values, and which variant is the odd one out where more than two are compared.${VARIANTS}`,
    ],
  };
}
