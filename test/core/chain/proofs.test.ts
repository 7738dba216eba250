import { describe, expect, it } from "vitest";
import { proofOf } from "../../../src/core/chain/proofs.ts";
import { newSource } from "../../../src/core/source/source-state.ts";

const BLOCK = 5_000;
const SAID = {
  block: BLOCK,
  timestampSec: 1_795_132_800,
  hash: "0xaaaaaaaaaaaa",
  sentAtMs: 0,
  receivedAtMs: 1,
};
const SAME_HASH = { hash: SAID.hash, timestampSec: null };
const OTHER_HASH = { hash: "0xbbbbbbbbbbbb", timestampSec: SAID.timestampSec };

describe("an RPC node's block says of a source's block", () => {
  it.each([
    ["same", "hash", "the same hash", SAME_HASH],
    ["other", "hash", "another hash", OTHER_HASH],
    ["none", "hash", "no such block", null],
    [
      "same",
      "time",
      "another hash, where the source gives none, and a time 2 s apart",
      { ...OTHER_HASH, timestampSec: SAID.timestampSec + 2 },
    ],
    ["unclear", "time", "a time 3 s apart", { ...OTHER_HASH, timestampSec: SAID.timestampSec + 3 }],
    ["unclear", "time", "no time", { hash: null, timestampSec: null }],
    ["unclear", "neither", "hash and time", OTHER_HASH],
  ])("%s, if the source gives its %s and the node %s", (says, gives, _, found) => {
    const source = newSource("airdrops/first/production/base", {
      kind: "indexer",
      pollIntervalMs: 15_000,
      sentTo: "",
    });
    source.sharesHashes = gives === "hash";
    source.samples = [
      {
        ...SAID,
        ...(gives === "hash" ? {} : { hash: null }),
        ...(gives === "neither" ? { timestampSec: null } : {}),
      },
    ];

    const onNode = found && { ...found, block: BLOCK };

    expect(proofOf(source, { source: source.key, block: BLOCK, node: "node" }, onNode)).toMatchObject({
      node: "node",
      block: BLOCK,
      says,
    });
  });
});
