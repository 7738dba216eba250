import { describe, expect, it } from "vitest";
import {
  isNetworkDown,
  nobodyAnsweredYet,
  type SourceContact,
} from "../../../src/core/incidents/local-outage.ts";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import { FAILURE_REASONS, type FailureReason } from "../../../src/core/model/observation.ts";
import { sampleEndpoint, sampleTarget } from "../../views/sample-report.ts";

const NOW = 10_000_000;
const MINUTE_MS = 60_000;
const LONG_AGO = NOW - 45_000;

interface Told {
  /** Why its last poll failed. */
  readonly reason: FailureReason | null;
  readonly heardMs?: number | null;
  /** Of its last poll. */
  readonly polledMs?: number;
  readonly status?: "ok" | "unreachable";
  readonly pollIntervalMs?: number;
}

interface Host {
  readonly contacts: readonly SourceContact[];
  readonly endpoint: Endpoint;
}

/** One host with a target for each reason that its last poll failed for. */
function host(name: string, ...reasons: readonly (FailureReason | null)[]): Host {
  return hostOf(name, ...reasons.map((reason) => ({ reason })));
}

function hostOf(name: string, ...told: readonly Told[]): Host {
  const targets = told.map((_, index) => sampleTarget({ variant: `${name}-${index}` }));
  return {
    contacts: told.flatMap((one, index) => contactOf(targets[index]?.key ?? "", one)),
    endpoint: sampleEndpoint({ host: name, targets }),
  };
}

/** The RPC node of one chain. */
function node(name: string, told: Told): Host {
  return {
    contacts: [{ ...contactOf(name, told), kind: "rpc", verdict: null }],
    endpoint: sampleEndpoint({ key: name, kind: "rpc", host: name, targets: [] }),
  };
}

function contactOf(key: string, told: Told): SourceContact {
  const { reason, heardMs = LONG_AGO, status = "ok", pollIntervalMs = 15_000 } = told;
  const { polledMs = reason === null ? (heardMs ?? NOW) : NOW } = told;
  const times = { sentAtMs: polledMs - 100, receivedAtMs: polledMs };
  const last =
    reason === null
      ? ({ ...times, kind: "head" } as const)
      : ({ ...times, kind: "failed", reason, detail: "" } as const);
  return {
    key,
    kind: "indexer",
    last,
    lastSuccessMs: heardMs,
    pollIntervalMs,
    verdict: { status, dissent: 0 },
  };
}

function isReached(hosts: readonly Host[], nowMs = NOW): boolean {
  const contacts = hosts.flatMap((one) => one.contacts);
  return !isNetworkDown(
    contacts,
    hosts.map(({ endpoint }) => endpoint),
    nowMs,
  );
}

describe("isNetworkDown()", () => {
  it.each([
    { case: "two hosts fail", hosts: [host("a", "dns"), host("b", "timeout")], reached: false },
    { case: "one host fails, and there is no other", hosts: [host("a", "dns")], reached: true },
    {
      case: "one host fails, and another serves nobody",
      hosts: [host("a", "dns"), host("b")],
      reached: true,
    },
    {
      case: "one fails and one refuses",
      hosts: [host("a", "dns"), host("b", "rate_limited")],
      reached: true,
    },
    { case: "one fails and one is well", hosts: [host("a", "dns"), host("b", null)], reached: true },
    {
      case: "one host refuses one target, fails for the other",
      hosts: [host("a", "dns"), host("b", "dns", "graphql")],
      reached: true,
    },
    {
      case: "one host was not asked for one target, fails for the other",
      hosts: [host("a", "dns"), host("b", "budget", "dns")],
      reached: false,
    },
    {
      case: "two hosts fail and a third was not asked at all",
      hosts: [host("a", "dns"), host("b", "dns"), host("c", "budget")],
      reached: false,
    },
    {
      case: "two hosts fail, and as many were not asked at all",
      hosts: [host("a", "dns"), host("b", "dns"), host("c", "budget"), host("d", "budget")],
      reached: false,
    },
    {
      case: "one host fails and the other was not asked at all",
      hosts: [host("a", "dns"), host("b", "budget", "budget")],
      reached: true,
    },
    { case: "nobody was asked", hosts: [host("a", "budget"), host("b", "budget")], reached: true },
  ])("is reached: $reached, where $case", ({ hosts, reached }) => {
    expect(isReached(hosts)).toBe(reached);
  });

  it.each(FAILURE_REASONS.map((reason) => ({ reason })))(
    "knows whether $reason is an answer",
    ({ reason }) => {
      const unreached = ["timeout", "dns", "connect", "tls", "http_status", "malformed"];

      expect(isReached([host("a", "dns"), host("b", reason)])).toBe(!unreached.includes(reason));
    },
  );

  it.each([
    { pollIntervalMs: 15_000, afterMs: 45_000 },
    { pollIntervalMs: 30_000, afterMs: 60_000 },
  ])(
    "waits for $afterMs ms of silence where it polls each $pollIntervalMs ms",
    ({ pollIntervalMs, afterMs }) => {
      const hosts = [
        hostOf("a", { reason: "dns", pollIntervalMs }),
        hostOf("b", { reason: "dns", pollIntervalMs: MINUTE_MS }),
      ];

      expect(isReached(hosts, LONG_AGO + afterMs - 1)).toBe(true);
      expect(isReached(hosts, LONG_AGO + afterMs)).toBe(false);
    },
  );

  it("needs no further silence once two polls have turned a status, so that none is called unreachable first", () => {
    const heardMs = NOW - 2_000;
    const asked = { reason: "connect", heardMs, pollIntervalMs: 1_000 } as const;

    expect(isReached([hostOf("a", asked), hostOf("b", asked)])).toBe(true);
    expect(isReached([hostOf("a", { ...asked, status: "unreachable" }), hostOf("b", asked)])).toBe(false);
  });

  it("waits, where a status has turned, while another was reached within its poll interval", () => {
    const down = { reason: "connect", heardMs: NOW - 20_000, status: "unreachable" } as const;

    expect(isReached([hostOf("a", down), hostOf("b", { ...down, heardMs: NOW - 14_999 })])).toBe(true);
    expect(isReached([hostOf("a", down), hostOf("b", { ...down, heardMs: NOW - 15_000 })])).toBe(false);
  });

  it("needs no silence where nobody has ever answered", () => {
    const never = { reason: "dns", heardMs: null } as const;

    expect(isReached([hostOf("a", never), hostOf("b", never)])).toBe(false);
  });

  it("waits for a host that was never asked, where nobody has ever answered", () => {
    const never = { reason: "dns", heardMs: null } as const;
    const unasked = { ...host("d", "dns"), contacts: [] };

    expect(isReached([hostOf("a", never), hostOf("b", never), hostOf("c", never), unasked])).toBe(true);
  });
});

describe("isNetworkDown(), of hosts that are asked rarely", () => {
  const RARELY = 30 * MINUTE_MS;
  const notSince = { reason: null, heardMs: NOW - 10 * MINUTE_MS, pollIntervalMs: RARELY } as const;
  const refusedBefore = {
    reason: "not_found",
    heardMs: null,
    polledMs: NOW - 10 * MINUTE_MS,
    pollIntervalMs: RARELY,
  } as const;
  const deadForHours = { reason: "dns", heardMs: NOW - 600 * MINUTE_MS } as const;
  const nodeDown = { reason: "dns" } as const;

  it.each([
    {
      case: "two hosts fell silent together, and one has not been asked since",
      hosts: [host("a", "dns"), host("b", "dns"), hostOf("rare", notSince)],
      reached: false,
    },
    {
      case: "two fell silent, and one refused something long before",
      hosts: [host("a", "dns"), host("b", "dns"), hostOf("rare", notSince, refusedBefore)],
      reached: false,
    },
    {
      case: "two fell silent, and two have not been asked since",
      hosts: [host("a", "dns"), host("b", "dns"), hostOf("rare", notSince), hostOf("rare too", notSince)],
      reached: true,
    },
    {
      case: "one fell silent, another was dead before, and one has not been asked since",
      hosts: [host("a", "dns"), hostOf("b", deadForHours), hostOf("rare", notSince)],
      reached: true,
    },
    {
      case: "two fell silent, one of them two polls before, and one has not been asked since",
      hosts: [
        host("a", "dns"),
        hostOf("b", { reason: "dns", heardMs: LONG_AGO - 30_000 }),
        hostOf("rare", notSince),
      ],
      reached: false,
    },
    {
      case: "two fell silent, one of them more than two polls before, and one has not been asked since",
      hosts: [
        host("a", "dns"),
        hostOf("b", { reason: "dns", heardMs: LONG_AGO - 30_001 }),
        hostOf("rare", notSince),
      ],
      reached: true,
    },
    {
      case: "one fell silent, another was dead before, and the rare one fails like them",
      hosts: [host("a", "dns"), hostOf("b", deadForHours), hostOf("rare", { ...notSince, reason: "dns" })],
      reached: false,
    },
    {
      case: "two fell silent, one of them dead before for another target, and one has not been asked since",
      hosts: [host("a", "dns"), hostOf("b", { reason: "dns" }, deadForHours), hostOf("rare", notSince)],
      reached: false,
    },
    {
      case: "one and an RPC node fell silent, and one has not been asked since",
      hosts: [host("a", "dns"), node("rpc", nodeDown), hostOf("rare", notSince)],
      reached: false,
    },
    {
      case: "RPC nodes alone fell silent",
      hosts: [node("rpc", nodeDown), node("rpc too", nodeDown), hostOf("rare", notSince)],
      reached: true,
    },
    {
      case: "RPC nodes alone fell silent, and the only indexer has not been asked since",
      hosts: [
        node("rpc", nodeDown),
        node("rpc too", nodeDown),
        hostOf("a", { ...notSince, pollIntervalMs: 15_000 }),
      ],
      reached: true,
    },
    {
      case: "one fell silent, and an RPC node that was dead before",
      hosts: [host("a", "dns"), node("rpc", deadForHours)],
      reached: true,
    },
    {
      case: "one fell silent, and an RPC node answers",
      hosts: [host("a", "dns"), host("b", "dns"), node("rpc", { reason: null, heardMs: NOW - 1_000 })],
      reached: true,
    },
    {
      case: "one fell silent, and an RPC node that refuses us",
      hosts: [host("a", "dns"), host("b", "dns"), node("rpc", { reason: "unauthorized", heardMs: null })],
      reached: true,
    },
  ])("is reached: $reached, where $case", ({ hosts, reached }) => {
    expect(isReached(hosts)).toBe(reached);
  });
});

describe("nobodyAnsweredYet()", () => {
  const never = { reason: "dns", heardMs: null } as const;
  const unasked = { ...host("c", "dns"), contacts: [] };
  const both = hostOf("d", never, never);
  const halfAsked = { ...both, contacts: both.contacts.slice(0, 1) };
  const unaskedNode = { ...node("rpc", never), contacts: [] };

  it.each([
    { case: "one failed, and one was not asked", hosts: [hostOf("a", never), unasked], yet: true },
    { case: "all failed", hosts: [hostOf("a", never), hostOf("b", never)], yet: false },
    {
      case: "all failed but an RPC node that was not asked",
      hosts: [hostOf("a", never), unaskedNode],
      yet: false,
    },
    { case: "one answered once, and one was not asked", hosts: [host("a", "dns"), unasked], yet: false },
    {
      case: "one refused, and one was not asked",
      hosts: [hostOf("a", { reason: "unauthorized", heardMs: null }), unasked],
      yet: false,
    },
    { case: "nobody was asked", hosts: [unasked], yet: true },
    { case: "one of two targets of an endpoint failed", hosts: [halfAsked], yet: false },
  ])("is $yet where $case", ({ hosts, yet }) => {
    const contacts = hosts.flatMap((one) => one.contacts);

    expect(
      nobodyAnsweredYet(
        contacts,
        hosts.map(({ endpoint }) => endpoint),
      ),
    ).toBe(yet);
  });
});
