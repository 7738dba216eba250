import { describe, expect, it } from "vitest";
import { incidentDetail, incidentTitle } from "../../../src/views/wording/incident.ts";

const KEY = {
  scope: "endpoint",
  subject: "lockup/subgraph/production",
  detail: "26 of 26 targets of lockup/subgraph/production reject our key",
} as const;
const HOST = {
  scope: "host",
  subject: "a.example",
  detail: "9 of 9 targets of host a.example give no usable answer",
} as const;
const CHAIN = {
  scope: "chain",
  subject: "base",
  detail: "6 of 6 targets of chain base stand at a chain that has halted",
} as const;
const NETWORK = { scope: "network", subject: "all", detail: "nothing can be reached" } as const;

describe("incidentTitle()", () => {
  it.each([
    { incident: KEY, title: "lockup subgraph (production): 26 of 26 targets reject our key" },
    { incident: HOST, title: "host a.example: 9 of 9 targets give no usable answer" },
    { incident: CHAIN, title: "chain base: 6 of 6 targets stand at a chain that has halted" },
    { incident: NETWORK, title: "Network: nothing can be reached" },
  ])("is $title", ({ incident, title }) => {
    expect(incidentTitle(incident)).toBe(title);
  });
});

describe("incidentDetail()", () => {
  it.each([
    { incident: KEY, detail: "26 of 26 targets of lockup subgraph (production) reject our key" },
    { incident: HOST, detail: HOST.detail },
    { incident: NETWORK, detail: NETWORK.detail },
  ])("is $detail", ({ incident, detail }) => {
    expect(incidentDetail(incident)).toBe(detail);
  });
});
