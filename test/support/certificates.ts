import { generateKeyPairSync, type KeyObject, randomInt, sign } from "node:crypto";

/** A certificate with its key, both as PEM. */
export interface Issued {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly keyPem: string;
  readonly certPem: string;
}

const [INTEGER, BITS, OCTETS, OBJECT, UTF8, TIME, SEQUENCE, SET] = [2, 3, 4, 6, 0x0c, 0x18, 0x30, 0x31];
const ECDSA_SHA256 = der(SEQUENCE, der(OBJECT, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
const COMMON_NAME = der(OBJECT, [0x55, 0x04, 0x03]);
const ALTERNATIVE_NAME = der(OBJECT, [0x55, 0x1d, 0x11]);
/** Every certificate may issue others, so that a refusal has only the reason that the test wants to see. */
const IS_AUTHORITY = extension(der(OBJECT, [0x55, 0x1d, 0x13]), der(SEQUENCE, der(1, [0xff])));

/**
 * Issues a real X.509 certificate for a DNS name on a P-256 key, from an hour ago until tomorrow, without any tool outside Node; without
 * an issuer it is self-signed. Structure: RFC 5280, section 4.1; ECDSA with SHA-256: RFC 5758, section 3.2.
 */
export function issueCertificate({
  host,
  issuer,
}: {
  readonly host: string;
  readonly issuer?: Issued;
}): Issued {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // Positive, and no shorter than its bytes.
  const serial = [0x40 + randomInt(0x40), randomInt(0x100), randomInt(0x100), randomInt(0x100)];
  const unsigned = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, [2])),
    der(INTEGER, serial),
    ECDSA_SHA256,
    distinguishedName(issuer?.name ?? host),
    der(SEQUENCE, timeIn(-3_600_000), timeIn(86_400_000)),
    distinguishedName(host),
    publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      der(SEQUENCE, extension(ALTERNATIVE_NAME, der(SEQUENCE, der(0x82, Buffer.from(host)))), IS_AUTHORITY),
    ),
  );
  const signature = sign("sha256", unsigned, issuer?.privateKey ?? privateKey);
  const certificate = der(SEQUENCE, unsigned, ECDSA_SHA256, der(BITS, [0], signature));
  return {
    name: host,
    privateKey,
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certPem: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
}

function distinguishedName(name: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(name)))));
}

function extension(name: Buffer, value: Buffer): Buffer {
  return der(SEQUENCE, name, der(OCTETS, value));
}

function timeIn(ms: number): Buffer {
  const text = new Date(Date.now() + ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return der(TIME, Buffer.from(text));
}

/** A tag, the length in as few bytes as possible, and the content. */
function der(tag: number, ...parts: readonly (readonly number[] | Uint8Array)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content]);
}
