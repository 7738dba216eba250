import { type Issued, issueCertificate } from "./certificates.ts";
import { startDeafServer } from "./deaf-server.ts";
import type { FaultCase } from "./fault-cases.ts";
import { startRawServer, takeRefusingPort } from "./raw-server.ts";

/** A fault below HTTP, or of its framing: what no HTTP server does by itself. */
export interface WireCase extends Pick<FaultCase, "name" | "reason" | "status"> {
  /** Brings it about, given where its healthy neighbour really is. */
  readonly open: (neighbourUrl: string) => Promise<Wire>;
}

/** A fault on a port of its own. */
export interface Wire extends AsyncDisposable {
  readonly url: string;
  /** Where the neighbour is to be asked: on the fault's own port, where that can still serve anybody. */
  readonly neighbourUrl: string;
}

const DAY_MS = 86_400_000;

/** Whoever polls must trust it: only then does a certificate fail for what is wrong with it. */
export const AUTHORITY: Issued = issueCertificate({ host: "Trusted by the test" });

export const WIRE_CASES: readonly WireCase[] = [
  below("connection-refused", "connect", async () => at(`http://127.0.0.1:${await takeRefusingPort()}/`)),
  below("hang-at-connect", "timeout", serveNobody),
  // Refused by the resolver itself: no packet leaves.
  below("name-without-address", "dns", () => Promise.resolve(at(`http://${"a".repeat(64)}.invalid/`))),
  below("tls-certificate-self-signed", "tls", () => serveTls(issueCertificate({ host: "localhost" }))),
  below("tls-certificate-expired", "tls", () =>
    serveTls(issueCertificate({ host: "localhost", ...daysFromNow(-2, -1), issuer: AUTHORITY })),
  ),
  below("tls-certificate-not-yet-valid", "tls", () =>
    serveTls(issueCertificate({ host: "localhost", ...daysFromNow(1, 2), issuer: AUTHORITY })),
  ),
  below("tls-certificate-of-another-host", "tls", () =>
    serveTls(issueCertificate({ host: "elsewhere.example", issuer: AUTHORITY })),
  ),
  below("tls-certificate-of-an-unknown-authority", "tls", () => {
    const stranger = issueCertificate({ host: "Trusted by nobody" });
    return serveTls(issueCertificate({ host: "localhost", issuer: stranger }));
  }),
  {
    name: "tls-asked-of-plain-http",
    reason: "tls",
    status: "unreachable",
    open: (neighbourUrl) => Promise.resolve({ ...at(neighbourUrl.replace("http:", "https:")), neighbourUrl }),
  },
  framing("no-http-at-all", "malformed", "SSH-2.0-OpenSSH_9.2\r\n"),
  framing("headers-of-20-kb", "too_large", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`),
  framing("a-bad-chunk", "malformed", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  framing("two-lengths", "malformed", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
  framing("informational-answers-without-end", "timeout", "HTTP/1.1 102 Processing\r\n\r\n"),
];

type Place = Omit<Wire, "neighbourUrl">;

/** Nothing at all can be asked there, so that its neighbour lives on another port. */
function below(name: string, reason: WireCase["reason"], open: () => Promise<Place>): WireCase {
  return {
    name,
    reason,
    status: "unreachable",
    open: async (neighbourUrl) => ({ ...(await open()), neighbourUrl }),
  };
}

/** Every request is answered with these bytes and no more, but for those that are the neighbour's. */
function framing(name: string, reason: WireCase["reason"], bytes: string): WireCase {
  return {
    name,
    reason,
    status: "unreachable",
    open: async (neighbourUrl) => {
      const { pathname } = new URL(neighbourUrl);
      const server = await startRawServer({
        onRequest: (socket, request) => {
          if (request.startsWith(`POST ${pathname} `)) {
            relay(neighbourUrl, request).then(
              (answer) => socket.write(answer),
              // The test is over, and the neighbour gone.
              () => socket.destroy(),
            );
          } else {
            socket.write(bytes);
          }
        },
      });
      return { ...at(server.url, server), neighbourUrl: new URL(pathname, server.url).href };
    },
  };
}

async function relay(url: string, request: string): Promise<string> {
  const body = request.slice(request.indexOf("\r\n\r\n") + 4);
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await answer.text();
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

async function serveNobody(): Promise<Place> {
  const server = await startDeafServer();
  return at(`http://127.0.0.1:${server.port}/`, server);
}

async function serveTls({ certPem, keyPem }: Issued): Promise<Place> {
  const server = await startRawServer({
    onRequest: (socket) => socket.end(),
    tls: { cert: certPem, key: keyPem },
  });
  return at(`https://localhost:${server.port}/`, server);
}

function at(url: string, server?: AsyncDisposable): Place {
  return {
    url,
    async [Symbol.asyncDispose]() {
      await server?.[Symbol.asyncDispose]();
    },
  };
}

function daysFromNow(from: number, to: number): { readonly validFrom: Date; readonly validTo: Date } {
  const nowMs = Date.now();
  return { validFrom: new Date(nowMs + from * DAY_MS), validTo: new Date(nowMs + to * DAY_MS) };
}
