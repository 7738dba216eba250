import type { Report, TargetReport } from "../core/model/report.ts";

/** For each probe that compares a target: 1 if its query fails, else 0. */
export function probeFailures({ parity }: Report) {
  const byKey = new Map<string, Map<string, number>>();
  for (const { probe, key, against_key, failing } of parity) {
    for (const one of [key, against_key]) {
      const own = byKey.get(one) ?? new Map<string, number>();
      byKey.set(one, own.set(probe, Math.max(own.get(probe) ?? 0, Number(failing.includes(one)))));
    }
  }
  return ({ key }: TargetReport): Iterable<readonly [probe: string, isFailing: number]> =>
    byKey.get(key) ?? [];
}
