import bcrypt from "bcryptjs";
import { describe, expect, it } from "vitest";
import { BasicAuth } from "../../../src/io/http-server/basic-auth.ts";

const USERS = new Map([["alice", bcrypt.hashSync("open sesame", 4)]]);

describe("BasicAuth", () => {
  it("puts off who guesses many at once, and still knows who was right before", async () => {
    const auth = new BasicAuth();
    await auth.admit(USERS, basic("alice:open sesame"));

    const guesses = Array.from({ length: 100 }, (_, number) => auth.admit(USERS, basic(`alice:${number}`)));
    const known = await auth.admit(USERS, basic("alice:open sesame"));

    const admissions = await Promise.all(guesses);
    expect(known).toBe("admitted");
    expect(admissions.filter((admission) => admission === "refused").length).toBeGreaterThan(30);
    expect(admissions.filter((admission) => admission === "busy").length).toBeGreaterThan(60);
  });

  it.each(["$2$", "$2a$", "$2b$", "$2x$", "$2y$"])("knows %s for bcrypt", async (version) => {
    const hash = bcrypt.hashSync("open sesame", 4).replace("$2b$", version);
    const users = new Map([["alice", hash]]);

    expect(await new BasicAuth().admit(users, basic("alice:open sesame"))).toBe("admitted");
    expect(await new BasicAuth().admit(users, basic("alice:guess"))).toBe("refused");
  });

  it("takes a name and a password with any characters", async () => {
    const users = new Map([["älice", bcrypt.hashSync("a:b: ü\n", 4)]]);

    expect(await new BasicAuth().admit(users, basic("älice:a:b: ü\n"))).toBe("admitted");
  });
});

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
