import type { Observation, PollTimes } from "../../core/model/observation.ts";

type Untimed<Timed> = Timed extends unknown ? Omit<Timed, keyof PollTimes> : never;

/** What an answer said of one source: an observation, once the times of the poll are added. */
export type Outcome = Untimed<Observation>;
