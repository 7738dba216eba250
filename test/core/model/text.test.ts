import { describe, expect, it } from "vitest";
import { blocksText, countText, durationText, sourcesText } from "../../../src/core/model/text.ts";

describe("countText()", () => {
  it.each([
    { count: 0, text: "0" },
    { count: 999, text: "999" },
    { count: 1_000, text: "1,000" },
    { count: 1_234_567.5, text: "1,234,568" },
  ])("writes $count as $text", ({ count, text }) => {
    expect(countText(count)).toBe(text);
  });
});

describe("blocksText()", () => {
  it.each([
    { blocks: 0, text: "0 blocks" },
    { blocks: 1, text: "1 block" },
    { blocks: 1.4, text: "1 block" },
    { blocks: 1_240, text: "1,240 blocks" },
  ])("writes $blocks as $text", ({ blocks, text }) => {
    expect(blocksText(blocks)).toBe(text);
  });
});

describe("durationText()", () => {
  it.each([
    { ms: 400, text: "0 s" },
    { ms: 119_000, text: "119 s" },
    { ms: 120_000, text: "2 min" },
    { ms: 7_199_000, text: "120 min" },
    { ms: 7_200_000, text: "2 h" },
    { ms: 172_799_000, text: "48 h" },
    { ms: 172_800_000, text: "2 days" },
    { ms: 1_000 * 86_400_000, text: "1,000 days" },
  ])("writes $ms ms as $text", ({ ms, text }) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe("sourcesText()", () => {
  it.each([
    { count: 1, text: "1 source" },
    { count: 2, text: "2 sources" },
    { count: 1_000, text: "1,000 sources" },
  ])("writes $count as $text", ({ count, text }) => {
    expect(sourcesText(count)).toBe(text);
  });
});
