/** What a user would call the folders of the program. A longer beginning wins over a shorter one. */
const FEATURES: Readonly<Record<string, string>> = {
  "": "Node itself, and code of modules",
  app: "the rest of the daemon",
  budgets: "budgets",
  commands: "the rest of the daemon",
  config: "configuration, with its schema",
  core: "chains: samples, statuses, reference heads",
  "core/history": "history behind the plots",
  "core/model": "the rest of the daemon",
  "core/parity": "parity",
  "core/report": "reports, as all outputs read them",
  "core/text": "configuration, with its schema",
  daemon: "the rest of the daemon",
  "daemon/parity": "parity",
  "daemon/polling": "polls: counters, last replies, queue",
  "daemon/state": "state and history files",
  dialects: "polls: counters, last replies, queue",
  io: "the rest of the daemon",
  "io/http-client": "polls: counters, last replies, queue",
  "io/http-server": "pages and API",
  "io/state": "state and history files",
  "io/store": "shared store",
  leader: "shared store",
  main: "the rest of the daemon",
  metrics: "metrics",
  replica: "shared store",
  schedule: "schedules",
  sim: "the rest of the daemon",
  views: "pages and API",
};

/** @throws If a folder has no name yet. */
export function featureOf(folder: string): string {
  for (let parts = folder.split("/"); parts.length > 0; parts = parts.slice(0, -1)) {
    const feature = FEATURES[parts.join("/")];
    if (feature !== undefined) {
      return feature;
    }
  }
  throw new RangeError(`Cannot name ${folder}: bench/heap/features.ts lacks it`);
}
