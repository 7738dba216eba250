import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseDuration } from "../../src/config/quantities.ts";
import { decideMessages, type NotifiedIncident } from "../../src/core/events/decide-messages.ts";
import type { NotifyRules } from "../../src/core/model/notify.ts";
import type { Incident, Report } from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";
import { incidentsOf } from "../../src/core/report/incidents-of.ts";
import { messageOf, NOTIFY_BODIES } from "../../src/views/wording/notification.ts";
import { expectTold } from "../support/tell.ts";
import { chainsOf } from "./report-story.ts";
import { NOW_MS, sampleReport } from "./sample-report.ts";

class ToldStory {
  #rules: NotifyRules = { afterMs: 300_000, protocols: null, tiers: null, severity: "warning" };
  #notified: readonly NotifiedIncident[] = [];
  #incidents: readonly Incident[] = [];
  #nowMs = NOW_MS;

  do(line: string): readonly string[] {
    const [verb = "", ...words] = line.split(" ");
    if (verb === "rules") {
      const fields = words.map((word) => word.split("="));
      const given = Object.fromEntries(fields.map(([name, value = ""]) => [name, parse(value)]));
      this.#rules = { ...this.#rules, ...(given as Partial<NotifyRules>) };
      return [];
    }
    if (verb === "restart") {
      this.#notified = JSON.parse(JSON.stringify(this.#notified)) as readonly NotifiedIncident[];
      return [];
    }
    this.#nowMs += parseDuration(verb) ?? 0;
    const report = this.#reportOf(line.replace(/^\d+m /, ""));
    const { news, notified } = decideMessages(this.#notified, report, this.#rules);
    this.#notified = notified;
    return news.length === 0
      ? ["nothing"]
      : news.map((one) => messageOf(one, report, "http://synclag.test").text);
  }

  #reportOf(text: string): Report {
    const [fleet = "", circumstance] = text.split(" | ");
    const dispute = circumstance === undefined ? null : "multichain and subgraph contradict each other";
    const chains = chainsOf(fleet).map((chain) => ({ ...chain, dispute }));
    const sample = { ...sampleReport({ chains }), generated_at: isoTime(this.#nowMs) };
    const previous = this.#incidents;
    this.#incidents = incidentsOf({ ...sample, causes: [], previous, nowMs: this.#nowMs });
    return { ...sample, incidents: this.#incidents };
  }
}

describe("decideMessages()", () => {
  it("posts the messages of test/fixtures/told.txt", async () => {
    await expectTold("test/fixtures/told.txt", () => new ToldStory());
  });
});

describe("NOTIFY_BODIES", () => {
  const message = {
    version: 1,
    event: "test",
    id: "1",
    time: "",
    text: `<!channel> & ${"x".repeat(5_000)}`,
  } as const;

  it("escape the markup of Slack in the text of an indexer", () => {
    expect(NOTIFY_BODIES.slack(message, null)).toMatchObject({
      text: expect.stringMatching(/^&lt;!channel&gt; &amp; x/),
    });
  });

  it("shorten what Discord and Telegram would refuse, and mention nobody", () => {
    expect(NOTIFY_BODIES.discord(message, null)).toEqual({
      content: expect.stringMatching(/^.{1999}…$/),
      allowed_mentions: { parse: [] },
    });
    expect(NOTIFY_BODIES.telegram(message, "@c")).toMatchObject({
      chat_id: "@c",
      text: expect.stringMatching(/^.{4095}…$/),
    });
  });
});
