import { endpointsOf, type Fleet, indexerKey, type Target } from "../core/model/fleet.ts";
import { formatCount } from "../core/model/text.ts";

/** What another configuration changes, in one line: `2 targets added, 1 removed, schedule of airdrops/subgraph/production changed`. */
export function describeChanges(before: Fleet, after: Fleet): string {
  const [old, now] = [targetsOf(before), targetsOf(after)];
  const added = [...now.keys()].filter((key) => !old.has(key)).length;
  const removed = [...old.keys()].filter((key) => !now.has(key)).length;
  const parts = [
    ...(added > 0 ? [`${formatCount(added, "target")} added`] : []),
    ...(removed > 0 ? [`${added > 0 ? removed : formatCount(removed, "target")} removed`] : []),
    ...changedSchedules(before, after).map((name) => `schedule of ${name} changed`),
  ];
  return parts.length === 0 ? "no target or schedule changed" : parts.join(", ");
}

function targetsOf(fleet: Fleet): ReadonlyMap<string, Target> {
  return new Map(endpointsOf(fleet).flatMap(({ targets }) => targets.map((target) => [target.key, target])));
}

function changedSchedules(before: Fleet, after: Fleet): readonly string[] {
  const schedules = new Map(endpointsOf(before).map(({ key, schedule }) => [key, schedule]));
  const changed = endpointsOf(after).filter(
    ({ key, schedule }) => schedules.has(key) && schedules.get(key) !== schedule,
  );
  return [...new Set(changed.map((one) => (one.kind === "rpc" ? `rpc of ${one.name}` : indexerKey(one))))];
}
