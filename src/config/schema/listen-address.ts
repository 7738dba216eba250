import { isIPv6 } from "node:net";
import { z } from "zod";
import type { ListenAddress } from "../config.ts";
import { describeValue, expects } from "./messages.ts";

const LISTEN = "HOST:PORT such as 127.0.0.1:9855 or [::1]:9855";
const PATTERN = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/;

/** `listen` in chains.yaml. */
export const Listen = z
  .string(expects(LISTEN))
  .transform((text, context) => {
    const address = parseListenAddress(text);
    if (address === null) {
      context.addIssue({
        code: "custom",
        message: `Cannot listen on ${describeValue(text)}: expected ${LISTEN}`,
      });
      return z.NEVER;
    }
    return address;
  })
  .meta({ pattern: PATTERN.source, examples: ["127.0.0.1:9855", "0.0.0.0:9855", "[::1]:9855"] });

/** The address of `HOST:PORT`, an IPv6 host in brackets; null for any other text. Port 0 means any free port. */
export function parseListenAddress(text: string): ListenAddress | null {
  const [, bracketed, plain, port] = PATTERN.exec(text) ?? [];
  const host = bracketed ?? plain;
  const isInvalid = host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(host));
  return isInvalid ? null : { host, port: Number(port) };
}
