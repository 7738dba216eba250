import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

export interface CertificateSpec {
  /** The DNS name that it is for. */
  readonly host: string;
  /** Default: an hour ago. */
  readonly validFrom?: Date;
  /** Default: in a day. */
  readonly validTo?: Date;
  /** Default: it is self-signed. */
  readonly issuer?: Issued;
}

/** A certificate with its key, both as PEM. */
export interface Issued {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly keyPem: string;
  readonly certPem: string;
}

/**
 * Issues a real X.509 certificate on a P-256 key, without any tool outside Node.
 * Structure: RFC 5280, section 4.1; ECDSA with SHA-256: RFC 5758, section 3.2.
 */
export function issueCertificate({
  host,
  validFrom = new Date(Date.now() - 3_600_000),
  validTo = new Date(Date.now() + 86_400_000),
  issuer,
}: CertificateSpec): Issued {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId(ECDSA_SHA256));
  const unsigned = sequence(
    explicit(0, integer(2)),
    integer(1 + Math.floor(Math.random() * 1e9)),
    algorithm,
    distinguishedName(issuer?.name ?? host),
    sequence(time(validFrom), time(validTo)),
    distinguishedName(host),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(alternativeName(host), basicConstraints())),
  );
  const signature = sign("sha256", unsigned, issuer?.privateKey ?? privateKey);
  const certificate = sequence(unsigned, algorithm, tagged(0x03, Buffer.from([0]), signature));
  return {
    name: host,
    privateKey,
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certPem: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
}

const ECDSA_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];

function distinguishedName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId(COMMON_NAME), tagged(0x0c, Buffer.from(name)))));
}

function alternativeName(host: string): Buffer {
  const names = sequence(tagged(0x82, Buffer.from(host)));
  return sequence(objectId(SUBJECT_ALTERNATIVE_NAME), tagged(0x04, names));
}

/** Every one may issue others: what a test wants to see refused is refused for another reason. */
function basicConstraints(): Buffer {
  const isAuthority = sequence(tagged(0x01, Buffer.from([0xff])));
  return sequence(objectId(BASIC_CONSTRAINTS), tagged(0x04, isAuthority));
}

function time(date: Date): Buffer {
  return tagged(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z$/g, "")}Z`));
}

function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  // A leading one bit would make it negative.
  return tagged(0x02, bytes.readUInt8(0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}

function objectId(bytes: readonly number[]): Buffer {
  return tagged(0x06, Buffer.from(bytes));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function explicit(number: number, part: Buffer): Buffer {
  return tagged(0xa0 + number, part);
}

/** DER: a tag, the length in as few bytes as it takes, the content. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) {
    return [length];
  }
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}
