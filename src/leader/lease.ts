// The lease of the leader as one replica sees it: a pure state machine. Its clock never goes back, and runs during a suspend.
// The leader may poll, publish and use budgets; docs/HIGH-AVAILABILITY.md has the guarantees.

/** How long a lease lasts in the store after a renewal. */
export const LEASE_MS = 12_000;
/** The holder uses the lease for this time after its call. The rest of `LEASE_MS` allows for clocks that run differently. */
const ACT_MS = 10_000;
/** The time between two renewals by the holder. */
const RENEW_MS = 3_000;
/** The pause before a failed call is repeated. */
const RETRY_MS = 1_000;
/** The time after which a standby asks again whether the lease is free. */
const WATCH_MS = 500;
/** A failure counts for this time: longer than a call and the pause before the next one. */
const RECENT_MS = 3_000;
/** If calls have failed for this time, the lease was lost because the store is away; else because this process was paused. */
const PERSISTENT_MS = 2_000;
/** After an outage of the store, other replicas wait for this time: the last leader kept polling, so it comes first. */
const PATIENCE_MS = 5_000;

/** What this replica may do now. */
export type Role =
  /** Holds the lease: no other replica does. */
  | "leader"
  /** The last leader, without the store: it keeps polling, but stops polling endpoints with a budget after five minutes. */
  | "cut_off"
  /** Its lease has expired. It does nothing until it knows whether another replica has taken the lease. */
  | "unsure"
  | "standby";

export interface Lease {
  /** The token of the lease that this replica held last; null on standby. */
  readonly token: number | null;
  /** The highest token seen: a store that has lost its memory continues from here. */
  readonly highestToken: number;
  /** The token may be used until then. */
  readonly untilMs: number;
  /** Calls have failed since then; null: the last call succeeded. */
  readonly failingSinceMs: number | null;
  readonly lastFailureMs: number;
  /** The lease is left to the last leader until then. */
  readonly patientUntilMs: number;
  /** When the next call is due; null: one is under way. */
  readonly nextCallMs: number | null;
}

export type LeaseEvent =
  /** A call to the store begins. */
  | { readonly kind: "called" }
  /** The store gave or renewed the lease. `calledMs`: the start of the call. */
  | { readonly kind: "granted"; readonly calledMs: number; readonly token: number }
  /** Another replica has the lease. */
  | { readonly kind: "refused"; readonly token: number }
  /** The lease is free, but cannot be granted yet. */
  | { readonly kind: "vacant"; readonly token: number }
  /** No usable reply in time. */
  | { readonly kind: "failed"; readonly calledMs: number };

/** A replica that has just started: a standby that asks for the lease at once. */
export const NEW_LEASE: Lease = {
  token: null,
  highestToken: 0,
  untilMs: Number.NEGATIVE_INFINITY,
  failingSinceMs: null,
  lastFailureMs: Number.NEGATIVE_INFINITY,
  patientUntilMs: Number.NEGATIVE_INFINITY,
  nextCallMs: Number.NEGATIVE_INFINITY,
};

/** The role at an instant: a lease ends by itself, whether or not anything has happened. */
export function roleOf(lease: Lease, nowMs: number): Role {
  if (lease.token === null) {
    return "standby";
  }
  if (nowMs < lease.untilMs) {
    return "leader";
  }
  const { failingSinceMs, lastFailureMs } = lease;
  const isAway =
    failingSinceMs !== null &&
    lastFailureMs - failingSinceMs >= PERSISTENT_MS &&
    nowMs - lastFailureMs <= RECENT_MS;
  return isAway ? "cut_off" : "unsure";
}

/** The token for budgets and writes; null if this replica may use neither. */
export function tokenOf(lease: Lease, nowMs: number): number | null {
  return roleOf(lease, nowMs) === "leader" ? lease.token : null;
}

/**
 * The order in which replicas may take a free lease: the last leader comes first, and a replica whose last call failed,
 * or that is still patient, comes last.
 */
export function priorityOf(lease: Lease, nowMs: number): "first" | "usual" | "last" {
  if (roleOf(lease, nowMs) === "cut_off") {
    return "first";
  }
  return lease.failingSinceMs !== null || nowMs < lease.patientUntilMs ? "last" : "usual";
}

/** Whether a call to the store is due. In the role `unsure`, for example after a pause of this process, it is due at once. */
export function isCallDue(lease: Lease, nowMs: number): boolean {
  return lease.nextCallMs !== null && (nowMs >= lease.nextCallMs || roleOf(lease, nowMs) === "unsure");
}

export function foldLease(lease: Lease, event: LeaseEvent, nowMs: number): Lease {
  switch (event.kind) {
    case "called":
      return { ...lease, nextCallMs: null };
    case "granted":
      return {
        ...NEW_LEASE,
        token: event.token,
        highestToken: Math.max(lease.highestToken, event.token),
        untilMs: event.calledMs + ACT_MS,
        nextCallMs: event.calledMs + RENEW_MS,
      };
    case "refused":
      return standBy(lease, event.token, nowMs);
    case "vacant":
      // While there is no leader, the last leader keeps polling.
      return roleOf(lease, nowMs) === "cut_off"
        ? { ...lease, lastFailureMs: nowMs, nextCallMs: nowMs + WATCH_MS }
        : standBy(lease, event.token, nowMs);
    case "failed":
      return { ...withFailure(lease, event.calledMs, nowMs), nextCallMs: nowMs + RETRY_MS };
  }
}

function standBy(lease: Lease, token: number, nowMs: number): Lease {
  return {
    ...NEW_LEASE,
    highestToken: Math.max(lease.highestToken, token),
    patientUntilMs: lease.failingSinceMs === null ? lease.patientUntilMs : nowMs + PATIENCE_MS,
    nextCallMs: nowMs + WATCH_MS,
  };
}

/** If this process was paused during the call, the failure counts from now, because nothing was tried during the pause. */
function withFailure(lease: Lease, calledMs: number, nowMs: number): Lease {
  if (nowMs - calledMs > RECENT_MS) {
    return { ...lease, failingSinceMs: nowMs, lastFailureMs: nowMs };
  }
  const isContinued = nowMs - lease.lastFailureMs <= RECENT_MS;
  return {
    ...lease,
    failingSinceMs: isContinued ? (lease.failingSinceMs ?? calledMs) : calledMs,
    lastFailureMs: nowMs,
  };
}
