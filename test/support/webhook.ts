import { once } from "node:events";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import type { NotifySettings } from "../../src/config/config.ts";
import { type Listener, serve } from "./listener.ts";

interface Received {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** The defaults of `notify`, except that one target causes a message at once. */
export const NOTIFY: Omit<NotifySettings, "url"> = {
  ...{ headers: {}, format: "json" as const, chatId: null, link: null },
  ...{ afterMs: 0, protocols: null, tiers: null, severity: "warning" as const },
};

/** A webhook on loopback that replies with these statuses in turn, the last of them again and again; 0: it hangs. */
export class Webhook implements AsyncDisposable {
  readonly received: Received[] = [];
  replies: number[] = [200];
  /** The headers of each reply. */
  headers: OutgoingHttpHeaders = {};
  readonly #arrivals = new EventTarget();
  #listener: Listener | null = null;

  static async start(): Promise<Webhook> {
    const webhook = new Webhook();
    webhook.#listener = await serve((request, response) => {
      void text(request).then((body) => {
        const { method, headers } = request;
        webhook.received.push({ method, headers, body: body === "" ? null : JSON.parse(body) });
        webhook.#arrivals.dispatchEvent(new Event("arrival"));
        const { replies, headers: own } = webhook;
        const status = (replies.length > 1 ? replies.shift() : replies[0]) ?? 200;
        if (status !== 0) {
          response.writeHead(status, own).end();
        }
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
}
