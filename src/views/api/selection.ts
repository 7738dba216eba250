import type { TargetReport } from "../../core/model/report.ts";
import { nearMissHint } from "../../core/text/near-miss.ts";

/** Selects the targets of a protocol, of one of its chains, or of one variant or tier there. */
export interface Selection {
  readonly protocol: string;
  readonly chain?: string | undefined;
  readonly variant?: string | undefined;
  readonly tier?: string | undefined;
}

type Named = Pick<TargetReport, "protocol" | "variant" | "chain" | "tier">;

/** The targets of a selection, in their order; none if it names something that does not exist. */
export function selectTargets<T extends Named>(targets: readonly T[], selection: Selection): readonly T[] {
  return targets.filter(
    ({ protocol, chain, variant, tier }) =>
      protocol === selection.protocol &&
      (selection.chain === undefined || chain === selection.chain) &&
      (selection.variant === undefined || variant === selection.variant) &&
      (selection.tier === undefined || tier === selection.tier),
  );
}

/** An error for a selection without targets: which part of it does not exist, and what does. */
export function describeMissing(targets: readonly Named[], selection: Selection): string {
  const { protocol, chain = "", variant = "", tier = "" } = selection;
  const ofProtocol = selectTargets(targets, { protocol });
  if (ofProtocol.length === 0) {
    return cannotFind(
      { what: "protocol", typed: protocol },
      targets.map((target) => target.protocol),
    );
  }
  const ofChain = selectTargets(ofProtocol, { protocol, chain });
  if (ofChain.length === 0) {
    return cannotFind(
      { what: "chain", typed: chain, of: protocol },
      ofProtocol.map((target) => target.chain),
    );
  }
  const ofVariant = selection.variant === undefined ? ofChain : selectTargets(ofChain, { protocol, variant });
  if (ofVariant.length === 0) {
    return cannotFind(
      { what: "variant", typed: variant, of: `${protocol}/${chain}` },
      ofChain.map((target) => target.variant),
    );
  }
  return cannotFind(
    { what: "tier", typed: tier, of: [protocol, chain, selection.variant ?? []].flat().join("/") },
    ofVariant.map((target) => target.tier),
  );
}

interface Wanted {
  readonly what: string;
  readonly typed: string;
  readonly of?: string;
}

function cannotFind({ what, typed, of }: Wanted, candidates: readonly string[]): string {
  const known = [...new Set(candidates)];
  const inside = of === undefined ? "" : ` of ${of}`;
  const listed = known.length === 0 ? "none" : known.join(", ");
  return `Cannot find ${what} '${typed}'${inside}${nearMissHint(typed, known)}: available are ${listed}`;
}
