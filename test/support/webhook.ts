import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { type Listener, serve } from "./listener.ts";

interface Received {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** A webhook on loopback that replies with these statuses in turn, the last of them again and again. */
export class Webhook implements AsyncDisposable {
  readonly received: Received[] = [];
  replies: number[] = [200];
  readonly #arrivals = new EventTarget();
  #listener: Listener | null = null;

  static async start(): Promise<Webhook> {
    const webhook = new Webhook();
    webhook.#listener = await serve((request, response) => {
      void text(request).then((body) => {
        webhook.#take(request.method, request.headers, body);
        response.writeHead(webhook.#nextReply()).end();
      });
    });
    return webhook;
  }

  get url(): string {
    return `${this.#listener?.url}/hook`;
  }

  /** Waits until enough requests of all, or of one method, have come. */
  async untilReceived(count: number, method?: string): Promise<readonly Received[]> {
    const own = () => this.received.filter((one) => method === undefined || one.method === method);
    while (own().length < count) {
      await once(this.#arrivals, "arrival");
    }
    return own();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.[Symbol.asyncDispose]();
  }

  #take(method: string | undefined, headers: IncomingHttpHeaders, body: string): void {
    this.received.push({
      method,
      headers,
      body: body === "" ? null : (JSON.parse(body) as Received["body"]),
    });
    this.#arrivals.dispatchEvent(new Event("arrival"));
  }

  #nextReply(): number {
    return (this.replies.length > 1 ? this.replies.shift() : this.replies[0]) ?? 200;
  }
}
