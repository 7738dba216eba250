import { describe, expect, it } from "vitest";
import { prometheusText } from "../../src/metrics/check-text.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families/all.ts";
import { statusJson } from "../../src/views/api/status.ts";
import {
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../views/sample-report.ts";

const LABELS = 'protocol="lockup",variant="multichain",tier="production",chain="base",chain_id="8453"';

describe("prometheusText()", () => {
  it("gives what is known of a target under the daemon's names", () => {
    const text = prometheusText(statusJson(sampleReport()));

    expect(
      text.split("\n").filter((line) => line.startsWith("synclag_") && !line.includes("status=")),
    ).toEqual([
      `synclag_up{${LABELS}} 1`,
      `synclag_block_number{${LABELS}} 38000000`,
      `synclag_block_timestamp_seconds{${LABELS}} 1796094758`,
      `synclag_last_success_timestamp_seconds{${LABELS}} 1796094762`,
      `synclag_last_advance_timestamp_seconds{${LABELS}} 1796094762`,
      `synclag_lag_blocks{${LABELS}} 2`,
      `synclag_lag_seconds{${LABELS}} 4`,
      'synclag_reference_block_number{chain="base",chain_id="8453"} 38000002',
      'synclag_reference_sources{chain="base",chain_id="8453"} 3',
      'synclag_block_interval_seconds{chain="base",chain_id="8453"} 2.003',
    ]);
  });

  it("says and means the same as the daemon's metrics", () => {
    const json = statusJson(sampleReport({ chains: [sampleChainReport({ gaps: [sampleGap()] })] }));
    const help = [...prometheusText(json).matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, text]) => ({
      name,
      text,
    }));

    expect(help).toHaveLength(14);
    for (const { name, text } of help) {
      expect(METRIC_FAMILIES).toContainEqual(expect.objectContaining({ name, help: text, type: "gauge" }));
    }
  });

  it("is one-hot over every status", () => {
    const lines = prometheusText(statusJson(sampleReport()))
      .split("\n")
      .filter((line) => line.startsWith("synclag_status{"));

    expect(lines).toHaveLength(13);
    expect(lines.filter((line) => line.endsWith(" 1"))).toEqual([`synclag_status{${LABELS},status="ok"} 1`]);
  });

  it("leaves out what is unknown, down to the head of an empty family", () => {
    const silent = sampleTargetReport({
      status: "unreachable",
      reason: "timeout",
      block: null,
      lagMs: null,
      lagBlocks: null,
    });
    const text = prometheusText(
      statusJson(sampleReport({ chains: [sampleChainReport({ targets: [silent], reference: null })] })),
    );

    expect(text).toContain(`synclag_up{${LABELS}} 0`);
    expect(text).not.toContain("synclag_block_number");
    expect(text).not.toContain("synclag_lag");
    expect(text).not.toContain("synclag_reference");
  });

  it.each([
    { status: "ok", reason: null, up: 1 },
    { status: "stalled", reason: null, up: 1 },
    { status: "missing", reason: null, up: 0 },
    { status: "ok", reason: "timeout", up: 0 },
  ] as const)("is up=$up for $status with reason $reason", ({ status, reason, up }) => {
    const targets = [sampleTargetReport({ status, reason })];

    expect(prometheusText(statusJson(sampleReport({ chains: [sampleChainReport({ targets })] })))).toContain(
      `synclag_up{${LABELS}} ${up}`,
    );
  });

  it("escapes label values", () => {
    const target = sampleTarget({ protocol: 'a"b\\c\nd' });
    const targets = [sampleTargetReport({ target })];

    expect(prometheusText(statusJson(sampleReport({ chains: [sampleChainReport({ targets })] })))).toContain(
      String.raw`synclag_up{protocol="a\"b\\c\nd",`,
    );
  });
});
