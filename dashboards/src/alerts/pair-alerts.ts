import { type Alert, KEEP_FIRING } from "../alert.ts";
import {
  CHAIN,
  DOWN,
  indented,
  outsideMaintenance,
  PAIR,
  perTarget,
  statusMetric,
  unlessAllInMaintenance,
} from "../promql.ts";
import { label, NUMBER, PAIR_NAME, say, VARIANTS, WITNESS } from "../text.ts";

/** The common part of all alerts about a chain, a pair or a target. */
export const CHAIN_ALERT = {
  about: "fleet",
  keepFiringFor: KEEP_FIRING,
  dashboard: { uid: "synclag-chain", variables: ["chain", "protocol"] },
} as const;

/** Pairs without a usable variant if at least two variants reply and every variant that replies is stalled. */
const ALL_STALLED = `sum by (${PAIR}, testnet) (max by (${PAIR}, testnet, variant, tier) (${statusMetric("stalled")})) > 1
and on (${PAIR})
  ${DOWN}
unless on (${PAIR})
  max by (${PAIR}) (${statusMetric("ok", "lagging", "syncing", "failed", "diverged", "missing", "chain_halted")}) == 1`;

/** Alerts about pairs without a usable variant, halted chains, disputed references, and nodes of other chains. */
export function pairAlerts(): readonly Alert[] {
  return [chainHalted(), allVariantsStalled(), noVariantOk(), referenceDisputed(), rpcWrongChain()];
}

/**
 * The most important alert: traffic cannot be moved to any variant. The expression excludes pairs that other alerts report,
 * because an inhibition fails if the two rules are evaluated on different scrapes. The alert about a rejected key names the
 * chains without another usable variant.
 */
function noVariantOk(): Alert {
  return {
    ...CHAIN_ALERT,
    name: "SynclagNoVariantOk",
    severity: "byLabels",
    expr: unlessAllInMaintenance(
      `${DOWN}
unless on (${PAIR}) (
${indented(ALL_STALLED)}
)
unless on (${PAIR})
  min by (${PAIR}) (synclag_status{tier="production", status="rejected"}) == 1`,
      PAIR,
    ),
    for: "1m",
    summary: [...PAIR_NAME, ": no usable variant"],
    description: say`Users of ${label("protocol")} on ${label("chain")} get old data, wrong data or errors: no variant that serves them is usable.${VARIANTS}`,
    first: "repair the variant with the least lag; tell users how old their data is.",
  };
}

/** All responding variants have stopped: they share a fault, or the chain has halted and no independent head shows it. */
function allVariantsStalled(): Alert {
  return {
    ...CHAIN_ALERT,
    name: "SynclagAllVariantsStalled",
    severity: "byLabels",
    expr: unlessAllInMaintenance(ALL_STALLED, PAIR),
    for: "1m",
    summary: [...PAIR_NAME, ...say`: all ${NUMBER} responding variants have stopped advancing`],
    description: say`All ${NUMBER} responding variants of ${label("protocol")} on ${label("chain")} have stopped advancing. ${WITNESS}${VARIANTS}`,
    first: "look at a block explorer of the chain: does it have new blocks?",
  };
}

/** An independent head shows that the chain produces no blocks: no indexer is at fault, and users of Synclag can repair nothing. */
function chainHalted(): Alert {
  return {
    ...CHAIN_ALERT,
    name: "SynclagChainHalted",
    severity: "warning",
    expr: unlessAllInMaintenance(`sum by (${CHAIN}) (${perTarget(statusMetric("chain_halted"))}) > 0`, CHAIN),
    for: "2m",
    summary: say`Chain ${label("chain")} has halted`,
    description: say`An independent node shows that chain ${label("chain")} (id ${label("chain_id")}) produces no blocks. ${NUMBER} indexers are waiting for it and are not at fault.`,
    first: "look at the status page of the chain, and wait.",
    dashboard: { uid: "synclag-chain", variables: ["chain"] },
  };
}

/**
 * Nothing shows which of the sources is right, so no target can be called late or wrong, and all look healthy. The alert also fires
 * if several targets are ok but the chain has no reference for another reason.
 */
function referenceDisputed(): Alert {
  return {
    ...CHAIN_ALERT,
    name: "SynclagReferenceDisputed",
    severity: "warning",
    expr: unlessAllInMaintenance(
      `max by (${CHAIN}) (synclag_reference_disputed) == 1
or
sum by (${CHAIN}) (
${indented(outsideMaintenance(perTarget(statusMetric("ok"))))}
) > 1
unless on (${CHAIN})
  synclag_reference_block_number`,
      CHAIN,
    ),
    for: "5m",
    summary: say`The sources of ${label("chain")} do not agree on its head`,
    description: say`The sources of ${label("chain")} (id ${label("chain_id")}) do not agree on its head, so it is unknown how far its indexers are behind and which of them are wrong. No indexer is preferred.`,
    first:
      "the page of the chain shows which sources contradict each other; compare the heights with a block explorer, and add an RPC node to chains.yaml.",
    dashboard: { uid: "synclag-chain", variables: ["chain"] },
  };
}

/** The URL or the id in chains.yaml is wrong, or the node's operator made a mistake. The node has no vote on the head. */
function rpcWrongChain(): Alert {
  return {
    ...CHAIN_ALERT,
    name: "SynclagRpcWrongChain",
    severity: "warning",
    expr: "max by (chain, endpoint) (synclag_rpc_chain_mismatch) == 1",
    for: "2m",
    summary: say`An RPC node of ${label("chain")} serves another chain`,
    description: say`${label("endpoint")} replies to eth_chainId with another id than chains.yaml has for ${label("chain")}. The node has no vote on the head of any chain until this is corrected.`,
    first:
      "compare both ids, which the page of the chain shows, and correct the URL or the id in chains.yaml.",
    dashboard: { uid: "synclag-chain", variables: ["chain"] },
  };
}
