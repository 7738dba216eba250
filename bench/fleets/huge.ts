import type { Subject } from "../performance/subject.ts";
import { CONCURRENCY, measureSize } from "./measure-size.ts";
import { comparisonOf, detailsOf, sizingOf } from "./size-figures.ts";

export const subject: Subject = {
  title: "A very large fleet",
  about: `As [large fleets](#large-fleets), ${CONCURRENCY} requests at a time.`,
  async measure(extent) {
    const durationSec = extent === "whole" ? 60 : 30;
    const measured = await measureSize({ endpoints: 50_000, periodSec: 30, durationSec });
    return [...sizingOf(measured), ...detailsOf(measured, {}), ...comparisonOf([measured])];
  },
};
