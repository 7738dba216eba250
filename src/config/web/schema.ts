import { z } from "zod";
import { describeValue, didYouMean, expects, expectsSecret } from "../schema/messages.ts";
import { section } from "../schema/section.ts";
import { goDurationMs } from "./go-duration.ts";
import { OPENSSL_CIPHERS, OPENSSL_CURVES, TLS_VERSIONS } from "./tls-names.ts";
import type { ClientAuth } from "./web-settings.ts";

/** exporter-toolkit reads YAML 1.1, which has more words for these than YAML 1.2. */
const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...[false, "n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

const CLIENT_AUTH: Readonly<Record<string, ClientAuth>> = {
  NoClientCert: "none",
  RequestClientCert: "request",
  RequireAnyClientCert: "require any",
  // An older name of the same.
  RequireClientCert: "require any",
  VerifyClientCertIfGiven: "verify if given",
  RequireAndVerifyClientCert: "require and verify",
};

const PATH = "the path of a PEM file";

const Tls = section(
  {
    cert: emptyAsAbsent(text("a certificate as PEM")),
    key: emptyAsAbsent(z.string(expectsSecret("a private key as PEM"))),
    client_ca: emptyAsAbsent(text("certificates as PEM")),
    cert_file: emptyAsAbsent(text(PATH)),
    key_file: emptyAsAbsent(text(PATH)),
    client_ca_file: emptyAsAbsent(text(PATH)),
    client_auth_type: emptyAsAbsent(oneOf(CLIENT_AUTH)),
    client_allowed_sans: z.array(text("a name"), expects("a list of names")).optional(),
    min_version: oneOf(TLS_VERSIONS).optional(),
    max_version: oneOf(TLS_VERSIONS).optional(),
    cipher_suites: z.array(oneOf(OPENSSL_CIPHERS), expects("a list of cipher suites")).default([]),
    prefer_server_cipher_suites: yamlBoolean().default(true),
    curve_preferences: z.array(oneOf(OPENSSL_CURVES), expects("a list of curves")).default([]),
  },
  "a map with cert_file and key_file",
);

const Headers = section(
  {
    "Content-Security-Policy": headerText("a policy").optional(),
    "Strict-Transport-Security": headerText("a policy such as max-age=31536000").optional(),
    "X-Content-Type-Options": z.literal("nosniff", expects("nosniff")).optional(),
    "X-Frame-Options": z.enum(["deny", "sameorigin"], expects("deny or sameorigin")).optional(),
    "X-XSS-Protection": headerText("a string").optional(),
  },
  "a map of headers",
);

/** `$2y$`, a cost from 4 to 31, a salt and a hash. */
const BCRYPT = /^\$2[a-z]?\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;
const HASH = expectsSecret("a bcrypt hash with a cost from 4 to 31, as htpasswd -nBC 10 makes it");
const Password = z.string(HASH).regex(BCRYPT, HASH);

const RateLimitEntry = section(
  {
    interval: z
      .preprocess(goDurationMs, z.number(expects("a duration such as 100ms or 1s")).min(0))
      .default(0),
    burst: z.int(expects("a whole number from 0")).min(0, expects("a whole number from 0")).default(0),
  },
  "a map with interval and burst",
);

/** The shape of exporter-toolkit's web configuration file, docs/web-configuration.md there. */
export const WebConfigFile = section(
  {
    tls_server_config: Tls.optional(),
    http_server_config: section(
      { http2: yamlBoolean().optional(), headers: Headers.optional() },
      "a map",
    ).optional(),
    basic_auth_users: z
      .record(z.string(), Password, expectsSecret("a map of names, each with a bcrypt hash"))
      .optional(),
    rate_limit: RateLimitEntry.optional(),
  },
  "a map with tls_server_config, http_server_config, basic_auth_users or rate_limit",
);

/** A web configuration file of the right shape. */
export type WebConfigFile = z.output<typeof WebConfigFile>;
/** Its `tls_server_config`. */
export type TlsEntry = z.output<typeof Tls>;

/** Any scalar, as a string. */
function text(wanted: string) {
  return z.union([z.string(), z.number(), z.boolean()], expects(wanted)).transform(String);
}

/** A line break becomes a space, as Go sends it. Anything else that no header can contain would fail with the first response. */
function headerText(wanted: string) {
  return text(wanted)
    .transform((found) => found.replace(/[\r\n]/g, " "))
    .refine((found) => /^[\t -~]*$/.test(found), expects(`${wanted}, in ASCII`));
}

/** An empty string counts as absent, as in Go. */
function emptyAsAbsent<Text extends z.ZodType>(schema: Text) {
  return z.preprocess((found) => (found === "" ? undefined : found), schema.optional()).optional();
}

/** One of the keys of `meanings`, as its value. */
function oneOf<Meaning>(meanings: Readonly<Record<string, Meaning>>) {
  return z.string(expects(`one of ${namesOf(meanings)}`)).transform((found, context): Meaning => {
    const meaning = Object.hasOwn(meanings, found) ? meanings[found] : undefined;
    if (meaning === undefined) {
      const known = Object.keys(meanings);
      const hint = didYouMean(found, known) || `: expected one of ${namesOf(meanings)}`;
      context.addIssue({ code: "custom", message: `Cannot use ${describeValue(found)}${hint}` });
      return z.NEVER;
    }
    return meaning;
  });
}

function namesOf(meanings: Readonly<Record<string, unknown>>): string {
  return Object.keys(meanings).join(", ");
}

function yamlBoolean() {
  return z.preprocess((found) => BOOLEANS.get(found) ?? found, z.boolean(expects("true or false")));
}
