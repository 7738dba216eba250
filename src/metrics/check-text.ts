import { STATUSES } from "../core/model/report.ts";
import type { ChainJson, GapJson, StatusJson, TargetJson } from "../views/api/api-schema.ts";
import { labelsText, sampleLine } from "./exposition.ts";

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | null];

interface Family {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/**
 * The status in Prometheus' text format, for the textfile collector of the node exporter: the daemon's own names and
 * meanings, gauges only, since one look has nothing to count. What is unknown is absent.
 */
export function prometheusText(json: StatusJson): string {
  return [...targetFamilies(json.targets), ...gapFamilies(json.gaps), ...chainFamilies(json.chains)]
    .map(renderFamily)
    .join("");
}

function targetFamilies(targets: readonly TargetJson[]): readonly Family[] {
  const perTarget = (value: (target: TargetJson) => number | null): readonly Sample[] =>
    targets.map((target) => [targetLabels(target), value(target)]);
  return [
    {
      name: "synclag_up",
      help: "1 if the last poll gave a usable height; polled on its own schedule, not by the scrape",
      samples: perTarget((target) => Number(isUp(target))),
    },
    {
      name: "synclag_block_number",
      help: "Last indexed block; absent once the evidence is stale",
      samples: perTarget((target) => target.block_number),
    },
    {
      name: "synclag_block_timestamp_seconds",
      help: "Timestamp of the last indexed block, when the indexer reports one",
      samples: perTarget((target) => unixSeconds(target.block_timestamp)),
    },
    {
      name: "synclag_last_success_timestamp_seconds",
      help: "When the target last gave a usable height",
      samples: perTarget((target) => unixSeconds(target.last_success)),
    },
    {
      name: "synclag_last_advance_timestamp_seconds",
      help: "When the height of the target last grew",
      samples: perTarget((target) => unixSeconds(target.last_advance)),
    },
    {
      name: "synclag_lag_blocks",
      help: "Blocks behind the reference of the chain; absent when unknown",
      samples: perTarget((target) => target.lag_blocks),
    },
    {
      name: "synclag_lag_seconds",
      help: "Chain time behind the reference of the chain; absent when unknown",
      samples: perTarget((target) => target.lag_seconds),
    },
    {
      name: "synclag_status",
      help: "1 for the status that the target has, 0 for the others",
      samples: targets.flatMap((target) =>
        STATUSES.map(
          (status): Sample => [{ ...targetLabels(target), status }, Number(target.status === status)],
        ),
      ),
    },
  ];
}

function gapFamilies(gaps: readonly GapJson[]): readonly Family[] {
  const perGap = (value: (gap: GapJson) => number | null): readonly Sample[] =>
    gaps.map((gap) => [{ ...targetLabels(gap), against: gap.against }, value(gap)]);
  return [
    {
      name: "synclag_variant_gap_blocks",
      help: "Blocks that the target is behind the other variant at one common instant; negative when ahead",
      samples: perGap(({ blocks }) => blocks),
    },
    {
      name: "synclag_variant_gap_seconds",
      help: "Chain time that the target is behind the other variant; negative when ahead",
      samples: perGap(({ seconds }) => seconds),
    },
    {
      name: "synclag_variant_gap_uncertainty_blocks",
      help: "Half-width of the interval that the true gap lies in",
      samples: perGap((gap) => gap.uncertainty_blocks),
    },
  ];
}

function chainFamilies(chains: readonly ChainJson[]): readonly Family[] {
  const perChain = (value: (chain: ChainJson) => number | null): readonly Sample[] =>
    chains.map((chain) => [{ chain: chain.slug, chain_id: String(chain.chain_id) }, value(chain)]);
  return [
    {
      name: "synclag_reference_block_number",
      help: "Corroborated head of the chain",
      samples: perChain(({ reference }) => reference?.block_number ?? null),
    },
    {
      name: "synclag_reference_sources",
      help: "How many sources agree with the reference of the chain",
      samples: perChain(({ reference }) => reference?.sources ?? null),
    },
    {
      name: "synclag_block_interval_seconds",
      help: "Measured time between blocks",
      samples: perChain((chain) => chain.block_interval_seconds),
    },
  ];
}

/** The JSON has no word for it; a height that is still known from before does not make a failed poll usable. */
function isUp({ status, reason, block_number }: TargetJson): boolean {
  return reason === null && block_number !== null && status !== "missing";
}

function targetLabels({
  protocol,
  variant,
  tier,
  chain,
  chain_id,
}: Pick<GapJson, "protocol" | "variant" | "tier" | "chain" | "chain_id">): Labels {
  return { protocol, variant, tier, chain, chain_id: String(chain_id) };
}

function renderFamily({ name, help, samples }: Family): string {
  const lines = samples.flatMap(([labels, value]) =>
    value === null ? [] : sampleLine(name, [labelsText(labels), value]),
  );
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
}

function unixSeconds(isoTime: string | null): number | null {
  return isoTime === null ? null : Date.parse(isoTime) / 1000;
}
