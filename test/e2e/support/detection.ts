import { performance } from "node:perf_hooks";
import type { Page } from "./alertmanager.ts";
import { getText } from "./loopback.ts";
import type { ActiveAlert, PrometheusServer } from "./prometheus-server.ts";

/** When each thing was first seen, unix milliseconds; null: not yet. */
export interface Detection {
  /** The daemon's own /metrics says it. */
  readonly metricAtMs: number | null;
  readonly pendingAtMs: number | null;
  readonly firingAtMs: number | null;
  readonly deliveredAtMs: number | null;
}

/** What to look out for. */
export interface Sought {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The beginning of a line of /metrics, and whose. */
  readonly metric: { readonly url: string; readonly line: string } | null;
  /** Nothing before counts. */
  readonly sinceMs: number;
}

/** Watches /metrics and Prometheus twice a second, and notes when each thing sought is first seen. */
export class Observer implements Disposable {
  readonly #prometheus: PrometheusServer;
  readonly #sought: readonly Sought[];
  readonly #metricAt = new Map<Sought, number>();
  readonly #alertAt = new Map<Sought, { pending: number; firing: number | null }>();
  readonly #timer: NodeJS.Timeout;
  #isBusy = false;
  readonly #looksMs: number[] = [];

  constructor(prometheus: PrometheusServer, sought: readonly Sought[]) {
    this.#prometheus = prometheus;
    this.#sought = sought;
    this.#timer = setInterval(() => void this.#look(), 500);
  }

  /** How long 95 % of the looks took at most: the error of what they see. */
  get lookMs(): number {
    const sorted = this.#looksMs.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? 0);
  }

  of(sought: Sought, pages: readonly Page[]): Detection {
    const alert = this.#alertAt.get(sought);
    const page = pages.find(
      (candidate) => candidate.status === "firing" && fits(sought, candidate) && since(sought, candidate),
    );
    return {
      metricAtMs: this.#metricAt.get(sought) ?? null,
      pendingAtMs: alert?.pending ?? null,
      firingAtMs: alert?.firing ?? null,
      deliveredAtMs: page?.receivedAtMs ?? null,
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    const startedAt = performance.now();
    try {
      await Promise.all([this.#lookAtMetrics(), this.#lookAtAlerts()]);
    } catch {
      // A daemon that is down is one of the faults.
    } finally {
      this.#looksMs.push(performance.now() - startedAt);
      this.#isBusy = false;
    }
  }

  async #lookAtMetrics(): Promise<void> {
    const open = this.#sought.filter((sought) => !this.#metricAt.has(sought));
    for (const url of new Set(open.flatMap(({ metric }) => metric?.url ?? []))) {
      const text = await getText(`${url}/metrics`);
      for (const sought of open) {
        if (sought.metric?.url === url && text.includes(`\n${sought.metric.line}`)) {
          this.#metricAt.set(sought, Date.now());
        }
      }
    }
  }

  async #lookAtAlerts(): Promise<void> {
    const alerts = await this.#prometheus.alerts();
    for (const sought of this.#sought) {
      const alert = alerts.find((candidate) => fits(sought, candidate));
      if (alert !== undefined) {
        this.#note(sought, alert);
      }
    }
  }

  #note(sought: Sought, { state, activeAtMs }: ActiveAlert): void {
    const before = this.#alertAt.get(sought);
    // Pending may end without an alarm: the last beginning counts.
    const pending = before === undefined || before.firing === null ? activeAtMs : before.pending;
    const firing = before?.firing ?? (state === "firing" ? Date.now() : null);
    this.#alertAt.set(sought, { pending, firing });
  }
}

export function fits(
  { alert, labels }: Pick<Sought, "alert" | "labels">,
  candidate: { readonly labels: Readonly<Record<string, string>> },
): boolean {
  return (
    candidate.labels["alertname"] === alert &&
    Object.entries(labels).every(([name, value]) => candidate.labels[name] === value)
  );
}

function since({ sinceMs }: Sought, { receivedAtMs }: Page): boolean {
  return receivedAtMs >= sinceMs;
}
