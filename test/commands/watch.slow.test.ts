import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { faultNamed } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { startSynclag } from "../support/synclag-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const WAIT = { timeout: 120_000, interval: 200 };

it("prints each change, serves the page, writes no file and ends with Ctrl-C", async () => {
  await using folder = await temporaryFolder();
  await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "envio" }] });
  const { url } = fleet.endpoint("envio");
  await using synclag = startSynclag(["watch", url, "--listen", "127.0.0.1:0"], { cwd: folder.path });
  let out = "";
  synclag.child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });

  await vi.waitFor(() => expect(out).toMatch(/^ok +my-protocol\/base\/envio/m), WAIT);
  const page = await fetch(/Page: (\S+)/.exec(out)?.[1] ?? "");
  fleet.endpoint("envio").fail(faultNamed("http_500"));
  await vi.waitFor(() => expect(out).toMatch(/^unreachable +my-protocol\/base\/envio/m), WAIT);
  synclag.child.kill("SIGINT");

  const { exitCode, err } = await synclag.finished;
  expect(exitCode).toBe(0);
  expect(page.status).toBe(200);
  expect(out.match(/^STATUS/gm)).toHaveLength(2);
  expect(err).toBe(`Asking 1 endpoint: at most 13 requests\n  ${url}: envio, base\n`);
  expect(readdirSync(folder.path)).toEqual([]);
});

it("ends when the reader of its output has read enough", async () => {
  await using folder = await temporaryFolder();
  await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "envio" }] });
  const { url } = fleet.endpoint("envio");
  await using synclag = startSynclag(["watch", url, "--listen", "127.0.0.1:0"], { cwd: folder.path });
  await synclag.logged(/envio, base/);

  synclag.child.stdout.destroy();

  expect((await synclag.finished).exitCode).toBe(0);
});
