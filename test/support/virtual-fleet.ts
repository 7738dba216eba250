import { type Endpoint, endpointsOf, sourceKeysOf } from "../../src/core/model/fleet.ts";
import type { FailureReason, Head } from "../../src/core/model/observation.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { openHistoryStore } from "../../src/daemon/state/history-store.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { createPrometheus } from "../../src/metrics/registry.ts";
import type { HistoryJson, StatusJson, TargetJson } from "../../src/views/api/api-schema.ts";
import { historyJson, historyTargets } from "../../src/views/api/history.ts";
import { statusJson } from "../../src/views/api/status.ts";
import { recordLog } from "./log-recorder.ts";
import { metricsSource } from "./metrics-source.ts";
import { configOf } from "./running-app.ts";

/** 2026-11-20T00:00:00Z. */
const START_MS = 1_795_132_800_000;
const BUILD = { version: "0.0.0-test", revision: "test", nodeVersion: "v0" };

/** What an endpoint of one chain replies: a height, or how its poll fails. */
export type Reply = (Partial<Head> & { readonly block: number }) | FailureReason;

/** What the daemon says of a configuration in virtual time: replies in; status, metrics and history out. */
export class VirtualFleet {
  #nowMs = START_MS;
  #fleet;
  readonly #monitor;
  readonly #history = openHistoryStore({
    stateFile: null,
    logger: recordLog().logger,
    nowMs: () => this.#nowMs,
  });

  constructor(yaml: string) {
    this.#fleet = configOf(yaml).fleet;
    this.#monitor = new Monitor(this.#fleet, { nowMs: () => this.#nowMs, budgets: () => [] });
  }

  /** Unix seconds. */
  get now(): number {
    return this.#nowMs / 1_000;
  }

  /** Lets time pass, to whole seconds. */
  wait(seconds: number): void {
    this.#nowMs += seconds * 1_000;
  }

  /** The endpoint with this URL is polled now, and answers at once. */
  reply(url: string, reply: Reply): void {
    const times = { sentAtMs: this.#nowMs, receivedAtMs: this.#nowMs };
    const source = sourceKeysOf(this.#endpoint(url))[0] ?? "";
    this.#monitor.observe([
      typeof reply === "string"
        ? { kind: "failed", source, ...times, reason: reply, detail: "" }
        : {
            kind: "head",
            source,
            ...times,
            head: { timestampSec: null, hash: null, deployment: null, indexingErrors: null, ...reply },
          },
    ]);
  }

  reload(yaml: string): void {
    this.#fleet = configOf(yaml).fleet;
    this.#monitor.watch(this.#fleet);
  }

  status(): StatusJson {
    return statusJson(this.#monitor.report());
  }

  /** The target of this variant, of which there is one. */
  target(variant: string): TargetJson {
    const found = this.status().targets.find((target) => target.variant === variant);
    if (found === undefined) {
      throw new Error(`No target of variant ${variant}`);
    }
    return found;
  }

  /** The series of `/metrics` that begin with this name, with their values. */
  async metric(name: string): Promise<Readonly<Record<string, number>>> {
    const source = metricsSource({ report: this.#monitor.report() });
    let text = "";
    for await (const piece of createPrometheus({ families: METRIC_FAMILIES, build: BUILD }).render(source)) {
      text += piece;
    }
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
    );
  }

  /** Takes a sample for the plots, as the daemon does each second. */
  async record(): Promise<void> {
    await (await this.#history).record(this.#monitor.report());
  }

  /** What `/api/v1/history` answers for a protocol on a chain. */
  async history(protocol: string, chain: string): Promise<HistoryJson> {
    const wanted = historyTargets(this.#monitor.report(), protocol, chain);
    if (wanted === null) {
      throw new Error(`No targets of ${protocol} on ${chain}`);
    }
    const span = { fromMs: START_MS, toMs: this.#nowMs, points: 1_000 };
    const past = (await this.#history).past(chain, wanted.keys, span);
    return historyJson(protocol, wanted.chainReport, { past, nowMs: this.#nowMs });
  }

  #endpoint(url: string): Endpoint {
    const found = endpointsOf(this.#fleet).find((endpoint) => endpoint.url === url);
    if (found === undefined) {
      throw new Error(`No endpoint with the URL ${url}`);
    }
    return found;
  }
}
