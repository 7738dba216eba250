import { describe, expect, it } from "vitest";
import type { Incident, ParityReport, TargetReport } from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { renderCheckTable } from "../../src/views/terminal/check.ts";
import { describeReplica } from "../../src/views/wording/headline.ts";
import { PAGE } from "../support/outputs.ts";
import {
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

type Make = (chain: string) => TargetReport;

const ok = make("multichain", {});
const fresh = make("subgraph", {});
const other = make("third", {});
const broken = make("multichain", { status: "stalled", lag_seconds: 41 * 60 });
const broken2 = make("subgraph", { status: "lagging", lag_seconds: 12 * 60 });
const rejected = make("multichain", { status: "rejected", lag_seconds: 2 });
const halted = make("multichain", { status: "chain_halted" });
const unknown = make("multichain", { status: "unknown" });
const unknown2 = make("subgraph", { status: "unknown" });
const testing = make("subgraph", {}, "testing");
const testing2 = make("third", {}, "testing");
const brokenTesting = make("subgraph", { status: "stalled" }, "testing");
const airdrops: Make = (chain) =>
  sampleTargetReport({
    target: sampleTarget({ protocol: "airdrops", chain }),
    status: "failed",
    lag_seconds: null,
  });

describe("the first line of check and the page", () => {
  it("names the most important fact and the alternative", () => {
    const cases: readonly (readonly [readonly Make[], string])[] = [
      [[], "No data yet: none of 0 targets has answered"],
      [[ok], "The only target is ok, at most 4 s behind"],
      [[make("multichain", { lag_seconds: null })], "The only target is ok"],
      [[ok, make("subgraph", { lag_seconds: 95 })], "All 2 targets are ok, at most 95 s behind"],
      [[ok, make("subgraph", { status: "syncing" })], "No action needed: 1 of 2 targets ok, 1 syncing"],
      [
        [ok, make("subgraph", { status: "unreachable", maintenance: true })],
        "No action needed: 1 of 2 targets ok, 1 in maintenance",
      ],
      [
        [unknown, make("subgraph", { status: "syncing" })],
        "No action needed: 0 of 2 targets ok, 1 syncing, 1 without data",
      ],
      [[unknown, unknown2], "No data yet: none of 2 targets has answered"],
      [
        [ok, broken2],
        "1 of 2 targets needs attention: lockup subgraph, lagging: 12 min behind; multichain is ok",
      ],
      [
        [make("multichain", { status: "missing", lag_seconds: null }), broken2],
        "2 of 2 targets need attention; worst: lockup multichain, missing: no other variant is ok",
      ],
      [[rejected], "1 of 1 target needs attention: lockup multichain, rejected: no other variant is ok"],
      [
        [ok, fresh, make("third", { status: "failed" }, "testing")],
        "1 of 3 targets needs attention: lockup third (testing), failed: multichain and subgraph are ok",
      ],
      [
        [make("multichain", { status: "failed" }), testing],
        "1 of 2 targets needs attention: lockup multichain, failed: only subgraph (testing) is ok",
      ],
    ];

    expect(cases.map(([targets]) => headline({ Base: targets }))).toEqual(
      cases.map(([, sentence]) => sentence),
    );
  });

  it("names the chain if there are several", () => {
    expect(headline({ Base: [airdrops], Gnosis: [airdrops] })).toBe(
      "2 of 2 targets need attention; worst: airdrops multichain on Base, failed: no other variant is ok",
    );
  });

  it("reports different data if all targets are ok", () => {
    const page = renderStatusPage(reportOf({ Base: [ok, fresh] }, [], [sampleParity()]), PAGE);

    expect(headline({ Base: [ok, fresh] }, [], [sampleParity()])).toBe(
      "Data differ: subgraph and multichain of lockup on Base (campaigns)",
    );
    expect(page).toContain("<title>1 needs attention · Synclag</title>");
  });
});

describe("the failover of an incident", () => {
  it("names the variant that is ok, and the chains without one", () => {
    const cases: readonly (readonly [Readonly<Record<string, readonly Make[]>>, string])[] = [
      [
        { Base: [broken, fresh], Blast: [broken, fresh], Morph: [broken], Tangle: [broken, broken2] },
        "up to 41 min behind; subgraph is ok on 2 of 4 chains, not on Morph and Tangle",
      ],
      [{ Base: [broken, broken2], Blast: [broken] }, "up to 41 min behind; no other variant is ok"],
      [
        { Base: [broken, fresh, testing], Blast: [broken, testing], Morph: [broken] },
        "up to 41 min behind; subgraph is ok on 1 of 3 chains, not on Blast and Morph",
      ],
      [{ Base: [rejected, fresh] }, "subgraph is ok on 1 of 1 chain"],
      [{ Base: [brokenTesting, testing2] }, "third is ok on 1 of 1 chain"],
      [{ Base: [broken, fresh, other] }, "up to 41 min behind; another variant is ok on 1 of 1 chain"],
      [
        {
          Base: [broken, fresh],
          Blast: [broken],
          Morph: [broken],
          Tangle: [broken],
          Sophon: [broken],
          Gnosis: [broken],
        },
        "up to 41 min behind; subgraph is ok on 1 of 6 chains, not on 5",
      ],
      [
        { Base: [broken, fresh, airdrops], Blast: [broken, fresh] },
        "up to 41 min behind; subgraph is ok on 1 of 2 chains, not on Base",
      ],
    ];

    expect(cases.map(([chains]) => failover(chains))).toEqual(cases.map(([, sentence]) => sentence));
  });

  it("is not offered if our own network or the chain is the cause", () => {
    expect(failover({ Base: [halted] }, "chain")).toBe("the indexers are not the cause");
    expect(failover({ Base: [broken, fresh] }, "network")).toBe("");
  });
});

describe("describeReplica()", () => {
  it("says which replica leads, and how old the report of a standby is", () => {
    const standby = { role: "standby", name: "b:1", leader: "a:1", age_seconds: 0.42 } as const;
    const cases = [
      [{ ...standby, role: "leader" }, "b:1 leads."],
      [standby, "a:1 leads; b:1 is on standby, with a report from 0.4 s ago."],
      [
        { ...standby, leader: null, age_seconds: null },
        "No replica leads; b:1 is on standby, without a report yet.",
      ],
      [{ ...standby, role: "cut_off" }, "Store unreachable: b:1 was the last leader and keeps polling."],
    ] as const;

    expect(cases.map(([replica]) => describeReplica({ replica }))).toEqual(cases.map(([, words]) => words));
    expect(describeReplica({ replica: null })).toBeNull();
  });
});

function make(variant: string, overrides: Partial<TargetReport>, tier = "production"): Make {
  return (chain) => sampleTargetReport({ target: sampleTarget({ variant, tier, chain }), ...overrides });
}

function headline(
  of: Readonly<Record<string, readonly Make[]>>,
  incidents: readonly Incident[] = [],
  parity: readonly ParityReport[] = [],
): string {
  return checkOf(reportOf(of, incidents, parity)).split("\n")[0] ?? "";
}

/** What `check` says behind an incident of all that is not ok. */
function failover(of: Readonly<Record<string, readonly Make[]>>, scope: Incident["scope"] = "endpoint") {
  const targets = reportOf(of)
    .targets.filter(({ status }) => status !== "ok")
    .map(({ key }) => key);
  const text = checkOf(
    reportOf(of, [{ scope, subject: "x", since: isoTime(NOW_MS), detail: "It is down", targets }]),
  );
  return /^Incident: .*It is down \([^)]*\)(?:: )?(.*)$/im.exec(text)?.[1];
}

function checkOf(report: ReturnType<typeof reportOf>): string {
  const json = report;
  return renderCheckTable(json, { color: "none", widthColumns: null, statusesUrl: "x", unfiltered: json });
}

function reportOf(
  of: Readonly<Record<string, readonly Make[]>>,
  incidents: readonly Incident[] = [],
  parity: readonly ParityReport[] = [],
) {
  const chains = Object.entries(of).map(([name, targets]) => {
    const slug = name.toLowerCase();
    return sampleChainReport({
      chain: sampleChain({ slug, name, testnet: name === "Sepolia" }),
      targets: targets.map((target) => target(slug)),
      parity,
    });
  });
  return sampleReport({ chains, incidents });
}
