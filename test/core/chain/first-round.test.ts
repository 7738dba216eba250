import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, targetOn, watch } from "./chain-fixture.ts";

const RPC = "rpc/base/0";
const [A, B, C, D] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
const FAR = 100_000;

describe("a first height that is behind those of the others", () => {
  it("is not held against its source before all have been asked", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(1, ({ nowMs }) => ({ [A]: headOf(nowMs) }), 1_000)
      .run(1, ({ nowMs }) => ({ [B]: headOf(nowMs) - FAR }), 1_000);

    expect(played.target(B)).toMatchObject({
      status: "unknown",
      up: true,
      detail:
        "its first height is behind or contradicts the others, and its chain's other sources have not all been polled yet",
    });
    expect(played.run(1, () => ({ [C]: "timeout" }), 1_000).target(B).status).toBe("lagging");
  });

  it("is held against it once most providers agree", () => {
    const played = new Play(watch(BASE, A, B, C, D, "flow/envio"));

    played.run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs), [C]: headOf(nowMs) - FAR }));
    expect(played.target(C).status).toBe("unknown");
    played.run(1, ({ nowMs }) => ({ [D]: headOf(nowMs) }), 1_000);

    expect(played.target(C).status).toBe("lagging");
  });

  it("is not by many sources of one provider", () => {
    const watched = watch(BASE, A, B, C, D, "flow/envio");
    const shared = [A, B, D].map((name) => [targetOn(BASE, name).key, "one.example"]);
    const played = new Play({ ...watched, providers: Object.fromEntries(shared) });

    played.run(1, ({ nowMs }) => ({
      ...Object.fromEntries([A, B, D].map((name) => [name, headOf(nowMs)])),
      [C]: headOf(nowMs) - FAR,
    }));

    expect(played.target(C).status).toBe("unknown");
  });

  it("is held against it at its second poll, whoever has not been polled by then", () => {
    const played = new Play(watch(BASE, A, B, C)).run(2, ({ nowMs }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs) - FAR,
    }));

    expect(played.target(B).status).toBe("lagging");
  });

  it("ends at once what was said of a source that gave none", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: "not_found" }))
      .run(1, ({ nowMs }) => ({ [B]: headOf(nowMs) - FAR }));

    expect(played.target(B).status).toBe("lagging");
  });
});

describe("a status that rests on first heights", () => {
  it("follows what other new sources say, until its source has given three", () => {
    const ahead = ({ nowMs }: { readonly nowMs: number }) => ({
      [A]: headOf(nowMs),
      [B]: headOf(nowMs) + FAR,
    });
    const two = new Play(watch(BASE, A, B, C)).run(2, ahead);
    const three = new Play(watch(BASE, A, B, C)).run(3, ahead);
    expect([two, three].map((played) => played.target(A).status)).toEqual(["lagging", "lagging"]);

    for (const played of [two, three]) {
      played.run(1, ({ nowMs }) => ({ [C]: headOf(nowMs) }), 1_000);
    }

    expect([two, three].map((played) => played.target(A).status)).toEqual(["ok", "lagging"]);
  });

  it("does not follow what old sources say", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(3, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) }))
      .run(1, ({ nowMs }) => ({ [C]: headOf(nowMs) }))
      .run(10, ({ nowMs }) => ({ [A]: headOf(nowMs) + FAR, [B]: headOf(nowMs) + FAR }));
    expect(played.target(C)).toMatchObject({ status: "ok", up: true });

    played.run(1, ({ nowMs }) => ({ [C]: headOf(nowMs) }));

    expect(played.target(C).status).not.toBe("ok");
  });

  it("is not doubted more by its last poll each time that another answers", () => {
    const played = new Play(watch(BASE, A, B, C))
      .run(1, ({ nowMs }) => ({ [A]: headOf(nowMs) }), 1_000)
      .run(1, () => ({ [A]: "timeout" }), 1_000)
      .run(4, ({ nowMs }) => ({ [B]: headOf(nowMs), [C]: "not_started" }), 1_000);

    expect(played.state.sources[0]?.verdict).toEqual({ status: "ok", dissent: 2 });
  });

  it("takes back that a height is impossible", () => {
    const contradicted = ({ nowMs }: { readonly nowMs: number }) => ({
      [RPC]: { block: headOf(nowMs) - FAR, timestampSec: Math.floor(nowMs / 1_000) },
      [A]: { block: headOf(nowMs), timestampSec: Math.floor(nowMs / 1_000) },
    });
    const played = new Play(watch(BASE, A, B, C)).run(1, (tick) => ({
      ...contradicted(tick),
      [B]: "timeout",
      [C]: "timeout",
    }));
    expect(played.target(A)).toMatchObject({ status: "diverged", reason: "implausible", up: false });

    played.run(1, ({ nowMs }) => ({ [B]: headOf(nowMs), [C]: headOf(nowMs) }), 1_000);

    expect(played.target(A)).toMatchObject({ status: "ok", reason: null, up: true });
  });
});
