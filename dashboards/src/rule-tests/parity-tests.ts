import { fires, inMaintenance, metric, type RuleTest, silent, statuses, target } from "./rule-test.ts";

const ALERT = "SynclagDataDiffers";
const SUBGRAPH = target("subgraph");
const PAIR = { ...SUBGRAPH, against: "multichain", probe: "campaigns" };

/** The alert of variants whose data differ. */
export function parityTests(): readonly RuleTest[] {
  return [
    {
      name: "SynclagDataDiffers fires after a quarter of an hour of different data, bridges a restart, and resolves",
      series: [
        metric("synclag_parity", PAIR, "1x4 0x25 _x3 1x60"),
        ...statuses(SUBGRAPH, "ok"),
        ...statuses(target("multichain"), "ok"),
      ],
      expect: [
        ...silent(ALERT, "4m", "18m"),
        ...["21m", "32m"].map((at) =>
          fires(ALERT, at, {
            severity: "warning",
            labels: PAIR,
            summary: "airdrops on base: subgraph (production) and multichain have different data (campaigns)",
            description:
              "airdrops on base: subgraph (production) and the variant multichain have different values of probe campaigns at one height, so users see different data depending on the variant. The page of the chain shows both values, and which variant is the odd one out where more than two are compared. multichain (production): ok. subgraph (production): ok.",
            dashboard: "synclag-chain?var-chain=base&var-protocol=airdrops",
          }),
        ),
        ...silent(ALERT, "45m"),
      ],
    },
    {
      name: "SynclagDataDiffers is silent for equal data, a short difference, what cannot be compared, and in maintenance",
      series: [
        metric("synclag_parity", PAIR, 1),
        metric("synclag_parity", { ...PAIR, chain: "form", chain_id: "478" }, "1x4 0x12 1x60"),
        metric("synclag_parity", { ...PAIR, chain: "morph", chain_id: "2818" }, "0x4 _x60"),
        metric("synclag_parity", { ...PAIR, tier: "testing" }, 0),
        inMaintenance(target("subgraph", { tier: "testing" })),
      ],
      expect: silent(ALERT, "10m", "20m", "40m"),
    },
  ];
}
