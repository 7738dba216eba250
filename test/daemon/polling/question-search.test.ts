import { describe, expect, it } from "vitest";
import { poll } from "../../../src/daemon/polling/poll.ts";
import { NEW_SEARCH } from "../../../src/dialects/fallback-query.ts";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { clientOf } from "../../support/client-of.ts";
import { endpointFor } from "../../support/endpoint-for.ts";
import { recordPolls } from "../../support/recorded-polls.ts";

const T0 = Date.UTC(2026, 10, 20, 12);
const ENVIO_WITH_TIME = "{ _meta { chainId progressBlock progressBlockTime } }";
const ENVIO = "{ _meta { chainId progressBlock } }";
const ENVIO_OLD = "{ chain_metadata { chain_id latest_processed_block } }";

describe("poll() where no question fits", () => {
  it("searches for a question from the spare part of the budget, and whole at most once an hour", async () => {
    await using fleet = await startFleet({ nowMs: () => T0, endpoints: [{ kind: "graph-node" }] });
    await using client = clientOf();
    const endpoint = endpointFor(fleet.endpoint("graph-node"), { dialect: "envio" });
    const clock = { nowMs: T0 };
    const { ports, questions, uses } = recordPolls({ post: client.post, nowMs: () => clock.nowMs });
    const asked: number[] = [];
    let search = NEW_SEARCH;

    for (const minutes of [0, 1, 2, 3, 61]) {
      clock.nowMs = T0 + minutes * 60_000;
      ({ search } = await poll(endpoint, search, ports));
      asked.push(questions.length);
    }

    expect(asked).toEqual([3, 4, 5, 6, 9]);
    // One of each poll is the schedule's own.
    expect(uses.filter((use) => use === "scheduled")).toHaveLength(5);
  });

  it("asks one question after the other, a poll each, where nothing can be spared", async () => {
    await using fleet = await startFleet({ nowMs: () => T0, endpoints: [{ kind: "graph-node" }] });
    await using client = clientOf();
    const endpoint = endpointFor(fleet.endpoint("graph-node"), { dialect: "envio" });
    const { ports, questions, failures } = recordPolls({
      post: client.post,
      nowMs: () => T0,
      allows: (use) => use === "scheduled",
    });

    const first = await poll(endpoint, NEW_SEARCH, ports);
    const second = await poll(endpoint, first.search, ports);
    const third = await poll(endpoint, second.search, ports);

    expect(questions).toEqual([ENVIO_WITH_TIME, ENVIO, ENVIO_OLD]);
    expect([first.observations, second.observations]).toEqual([[], []]);
    expect(third.observations).toMatchObject([{ kind: "failed", reason: "schema" }]);
    expect(failures.map(({ reason }) => reason)).toEqual(["schema"]);
  });
});
