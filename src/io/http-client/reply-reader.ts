import type { Dispatcher } from "undici";
import type { Reply } from "../../core/model/http-post.ts";
import type { FailureReason } from "../../core/model/observation.ts";

type ReplyOrFailure =
  | { readonly kind: "replied"; readonly reply: Reply }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Unlike a Buffer's own, this decoding takes a byte order mark off. */
const UTF8 = new TextDecoder();

/** Reads one whole answer of at most `maxBytes`, as undici hands it over; lets go of the connection at the first byte beyond. */
export class ReplyReader implements Dispatcher.DispatchHandler {
  /** Rejected with whatever ends it below HTTP. */
  readonly reply: Promise<ReplyOrFailure>;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #resolve: (reply: ReplyOrFailure) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #controller: Controller | null = null;
  #isStopped = false;
  #headAtMs = Number.NaN;
  #httpStatus = 0;
  #headers: Headers = {};
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** When the head of the answer came, by `performance.now()`. */
  get headAtMs(): number {
    return this.#headAtMs;
  }

  /** Gives up, whether there is a connection yet or not. */
  stop(): void {
    this.#isStopped = true;
    const reason = new Error("stopped");
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isStopped) {
      this.stop();
    }
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status < 200) {
      return;
    }
    this.#headAtMs = performance.now();
    this.#httpStatus = status;
    this.#headers = headers;
    const encoding = this.#header("content-encoding");
    if (encoding !== null && encoding.toLowerCase() !== "identity") {
      // Anything else may be a key that is echoed back, and is not to be told.
      const name = /^(gzip|x-gzip|br|deflate|zstd)$/i.test(encoding) ? encoding : "of an unknown kind";
      this.#refuse("malformed", `answered with content-encoding ${name}, though none was asked for`);
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.#refuse("too_large", `answered with more than ${this.#maxBytes} bytes`);
    } else {
      this.#chunks.push(chunk);
    }
  }

  onResponseEnd(): void {
    const [only, ...others] = this.#chunks;
    const bytes = only === undefined || others.length > 0 ? Buffer.concat(this.#chunks) : only;
    const location = this.#header("location");
    const isRedirect = this.#httpStatus >= 300 && this.#httpStatus < 400 && location !== null;
    this.#resolve({
      kind: "replied",
      reply: {
        httpStatus: this.#httpStatus,
        retryAfter: this.#header("retry-after"),
        body: UTF8.decode(bytes),
        ...(isRedirect ? { location } : {}),
      },
    });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#reject(error);
  }

  /** The first word counts: what comes of the abort is not heard any more. */
  #refuse(reason: FailureReason, detail: string): void {
    this.#resolve({ kind: "failed", reason, detail });
    this.stop();
  }

  #header(name: string): string | null {
    const value = this.#headers[name];
    return (Array.isArray(value) ? value[0] : value)?.trim() ?? null;
  }
}
