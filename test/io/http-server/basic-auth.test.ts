import bcrypt from "bcryptjs";
import { describe, expect, it, vi } from "vitest";
import { BasicAuth } from "../../../src/io/http-server/basic-auth.ts";

const USERS = new Map([["alice", bcrypt.hashSync("open sesame", 4)]]);

describe("BasicAuth", () => {
  it("refuses many guesses at once, and still admits a password that was right before", async () => {
    const auth = new BasicAuth();
    await auth.admit(USERS, basic("alice:open sesame"));

    const guesses = Array.from({ length: 100 }, (_, number) => auth.admit(USERS, basic(`alice:${number}`)));
    const known = await auth.admit(USERS, basic("alice:open sesame"));

    const admissions = await Promise.all(guesses);
    expect(known).toBe("admitted");
    expect(admissions.filter((admission) => admission === "refused").length).toBeGreaterThan(5);
    expect(admissions.filter((admission) => admission === "busy").length).toBeGreaterThan(80);
  });

  it("admits all simultaneous requests with a right password, such as those of one page", async () => {
    const auth = new BasicAuth();

    const requests = Array.from({ length: 20 }, () => auth.admit(USERS, basic("alice:open sesame")));

    expect(new Set(await Promise.all(requests))).toEqual(new Set(["admitted"]));
  });

  it.each([
    { flood: "guesses for another user", name: () => "bob", client: "10.0.0.1" },
    { flood: "unknown names", name: (number: number) => `nobody${number}`, client: "10.0.0.1" },
    { flood: "guesses for the same user from another address", name: () => "alice", client: "10.0.0.9" },
  ])("admits a new right password in its turn among $flood", async ({ name, client }) => {
    const auth = new BasicAuth();
    const users = new Map([...USERS, ["bob", bcrypt.hashSync("something else", 4)]]);
    const order: string[] = [];
    const flood = Array.from({ length: 100 }, async (_, number) => {
      order.push(await auth.admit(users, basic(`${name(number)}:guess ${number}`, client)));
    });

    order.push(await auth.admit(users, basic("alice:open sesame")));

    await Promise.all(flood);
    expect(order.filter((admission) => admission !== "busy").indexOf("admitted")).toBeLessThan(3);
  });

  it("hashes a right password once, and a wrong one, or that of an unknown name, each time", async () => {
    using compare = vi.spyOn(bcrypt, "compare");
    const auth = new BasicAuth();
    const asked = ["alice:open sesame", "alice:open sesame", "alice:guess", "alice:guess", "mallory:x"];

    for (const credentials of asked) {
      await auth.admit(USERS, basic(credentials));
    }

    expect(compare).toHaveBeenCalledTimes(4);
  });

  it.each(["$2$", "$2a$", "$2b$", "$2x$", "$2y$"])("knows %s for bcrypt", async (version) => {
    const hash = bcrypt.hashSync("open sesame", 4).replace("$2b$", version);
    const users = new Map([["alice", hash]]);

    expect(await new BasicAuth().admit(users, basic("alice:open sesame"))).toBe("admitted");
    expect(await new BasicAuth().admit(users, basic("alice:guess"))).toBe("refused");
  });

  it("accepts any characters in names and passwords", async () => {
    const users = new Map([["älice", bcrypt.hashSync("a:b: ü\n", 4)]]);

    expect(await new BasicAuth().admit(users, basic("älice:a:b: ü\n"))).toBe("admitted");
  });
});

function basic(credentials: string, client = "10.0.0.1") {
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}`, client };
}
