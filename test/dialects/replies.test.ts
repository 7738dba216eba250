import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { MetricsForm } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import type { Answer } from "../../src/daemon/polling/interpret-result.ts";
import { questionsFor } from "../../src/dialects/families.ts";
import { expectGolden } from "../support/golden.ts";
import { answerTo, endpointOf, formOf } from "./endpoint-of.ts";
import { readFixture, replyOf } from "./read-fixture.ts";

const FOLDER = "test/fixtures/replies";
const NOW_MS = Date.UTC(2026, 10, 20, 12);

const Reply = z.strictObject({
  /** A captured reply. */
  file: z.string().optional(),
  /** The `data` of a GraphQL reply. */
  data: z.unknown().optional(),
  body: z.string().optional(),
  status: z.number().optional(),
  retry_after: z.string().optional(),
});
type Reply = z.output<typeof Reply>;

const Group = z.strictObject({
  about: z.string(),
  dialect: z.string().optional(),
  chains: z.array(z.number()).default([1]),
  /** The deployment on each chain, for graph-status. */
  deployments: z.array(z.string()).default([]),
  /** The block of chains.yaml, in which the query is left out. */
  custom: z.record(z.string(), z.unknown()).optional(),
  /** What `metrics` in chains.yaml has, with the ids of chains in place of their slugs. */
  metrics: z.record(z.string(), z.unknown()).optional(),
  /** All captured replies of these folders of test/fixtures. */
  folder: z.union([z.string(), z.array(z.string())]).default([]),
  replies: z.array(Reply).default([]),
});
type Group = z.output<typeof Group>;

describe("interpretReply()", () => {
  it.each(readdirSync(FOLDER).filter((file) => file.endsWith(".yaml")))("reads the replies of %s", (file) => {
    const groups = z.array(Group).parse(parse(readFileSync(`${FOLDER}/${file}`, "utf8")));
    const name = basename(file, ".yaml");

    const text = groups.map((group) => textOf(group, group.dialect ?? DIALECT_OF[name] ?? name)).join("\n");

    expectGolden(`${FOLDER}/${name}.expected.txt`, text);
  });
});

/** Errors are read alike in all dialects. */
const DIALECT_OF: Readonly<Record<string, string>> = { errors: "graph" };

/** The replies of a group, and below each what it says of each chain to each question of the dialect. */
function textOf(group: Group, dialect: string): string {
  const replies = [
    ...[group.folder].flat().flatMap((folder) => capturedIn(folder).map((file): Reply => ({ file }))),
    ...group.replies,
  ];
  const endpoint = endpointOfGroup(group, dialect);
  const lines = replies.flatMap((reply) => [nameOf(reply), ...readings(reply, endpoint)]);
  return [`# ${group.about}; polled for chain ${group.chains.join(", ") || "none"}`, ...lines, ""].join("\n");
}

function capturedIn(folder: string): readonly string[] {
  const files = readdirSync(`test/fixtures/${folder}`).filter((file) => !file.endsWith(".graphql"));
  return files.map((file) => `${folder}/${file}`);
}

function endpointOfGroup(
  { chains, custom, deployments, metrics }: Group,
  dialect: string,
): ReturnType<typeof endpointOf> {
  const { targets, ...endpoint } = endpointOf(dialect, chains);
  return {
    ...endpoint,
    ...(custom === undefined
      ? {}
      : { custom: formOf(custom["method"] === undefined ? { query: "{ x }", ...custom } : custom) }),
    // The test's own block has this shape.
    ...(metrics === undefined ? {} : { metrics: metrics as Partial<MetricsForm> }),
    targets: targets.map((target, index) => {
      const deployment = deployments[index];
      return deployment === undefined ? target : { ...target, deployment };
    }),
  };
}

function nameOf({ file, data, body, status, retry_after: retryAfter }: Reply): string {
  const written = body !== undefined && /^[!-~][ -~]*$/.test(body) ? body : JSON.stringify(body ?? data);
  const http = status === undefined ? "" : `HTTP ${status} `;
  return `${http}${retryAfter === undefined ? "" : `Retry-After: ${retryAfter} `}${file ?? written}`;
}

/** One line for each question that the reply fits, or for all questions if it fits none; equal lines are merged. */
function readings(reply: Reply, endpoint: ReturnType<typeof endpointOf>): readonly string[] {
  const all = questionsFor(endpoint).map((question, index) => ({
    number: index + 1,
    answer: answerTo(endpoint, question, httpReplyOf(reply), NOW_MS),
  }));
  const answered = all.filter(({ answer }) => answer.kind === "answered");
  const numbers = new Map<string, readonly number[]>();
  for (const { number, answer } of answered.length > 0 ? answered : all) {
    const text = answerText(answer);
    numbers.set(text, [...(numbers.get(text) ?? []), number]);
  }
  return [...numbers].map(
    ([text, to]) => `  to ${to.length > 1 ? "queries" : "query"} ${to.join(", ")} → ${text}`,
  );
}

function httpReplyOf({ file, data, body, status = 200, retry_after: retryAfter }: Reply) {
  const text = file === undefined ? (body ?? JSON.stringify({ data })) : readFixture(file);
  return replyOf(text, { httpStatus: status, retryAfter: retryAfter ?? null });
}

function answerText(answer: Answer): string {
  switch (answer.kind) {
    case "answered":
      return answer.observations.map(observationText).join("; ");
    case "refused":
      return `refused: ${answer.detail}`;
    default: {
      const { reason, detail, retryAfterMs } = answer;
      return `failed (${reason}): ${detail}${retryAfterMs === null ? "" : ` (wait ${retryAfterMs} ms)`}`;
    }
  }
}

function observationText(observation: Observation): string {
  const id = observation.source.split("/").at(-1);
  const source = id === "all" ? "node" : `chain ${id}`;
  switch (observation.kind) {
    case "head": {
      const details = Object.entries(observation.head).filter(([, value]) => value !== null);
      return `${source}: ${details.map(([name, value]) => `${name} ${String(value)}`).join(", ")}`;
    }
    case "failed":
      return `${source}: failed (${observation.reason}): ${observation.detail}`;
    default:
      return `${source}: ${observation.kind}`;
  }
}
