import fc from "fast-check";
import { Gauge, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import {
  expositionText,
  labelsText,
  type Sample,
  sampleLine,
} from "../../../src/metrics/families/exposition.ts";

describe("sampleLine()", () => {
  it.each([
    { labels: {}, value: 1, line: "synclag_up 1" },
    { labels: { chain: "base" }, value: 0, line: 'synclag_up{chain="base"} 0' },
    {
      labels: { chain: "base", chain_id: "" },
      value: -1.5,
      line: 'synclag_up{chain="base",chain_id=""} -1.5',
    },
    { labels: { chain: 'a"b\\c\nd' }, value: 1e21, line: String.raw`synclag_up{chain="a\"b\\c\nd"} 1e+21` },
    { labels: {}, value: Number.POSITIVE_INFINITY, line: "synclag_up +Inf" },
    { labels: {}, value: Number.NEGATIVE_INFINITY, line: "synclag_up -Inf" },
    { labels: {}, value: Number.NaN, line: "synclag_up NaN" },
  ])("writes $line", ({ labels, value, line }) => {
    expect(sampleLine("synclag_up", [labelsText(labels), value])).toBe(`${line}\n`);
  });

  it("writes what prom-client writes, whatever the labels hold", async () => {
    const value = fc.oneof(fc.double({ noNaN: true }), fc.integer());
    const label = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("\\", '"', "\n", "n") }),
    );

    await fc.assert(
      fc.asyncProperty(fc.tuple(label, label), value, async ([chain, variant], number) => {
        const registry = new Registry();
        const settings = { name: "synclag_up", help: "x", labelNames: ["chain", "variant"] };
        new Gauge({ ...settings, registers: [registry] }).set({ chain, variant }, number);

        const line = sampleLine("synclag_up", [labelsText({ chain, variant }), number]);

        expect(await registry.metrics()).toBe(`# HELP synclag_up x\n# TYPE synclag_up gauge\n${line}`);
      }),
    );
  });
});

describe("expositionText()", () => {
  it("writes each family under its head, and leaves out one without samples", () => {
    const family = (name: string, samples: readonly Sample[]) => ({
      name,
      type: "gauge",
      help: "What it is",
      samples: () => samples,
    });
    const families = [
      family("synclag_up", [
        ['chain="base"', 1],
        ['chain="form"', 0],
      ]),
      family("synclag_lag_seconds", []),
      family("synclag_polls_queued", [["", 3]]),
    ];

    expect(expositionText(families, null)).toBe(
      [
        "# HELP synclag_up What it is",
        "# TYPE synclag_up gauge",
        'synclag_up{chain="base"} 1',
        'synclag_up{chain="form"} 0',
        "# HELP synclag_polls_queued What it is",
        "# TYPE synclag_polls_queued gauge",
        "synclag_polls_queued 3",
        "",
      ].join("\n"),
    );
  });
});
