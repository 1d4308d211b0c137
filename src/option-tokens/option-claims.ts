import { isLowerCaseUuid } from "../uuid.js";

/** What a token says. Ids are UUIDs in lower case. */
export interface OptionClaims {
  /** The token itself, for single use. */
  readonly jti: string;
  readonly tenantId: string;
  readonly slotId: string;
  /** The generation of the slot when it was found, 0 to 4,294,967,295. */
  readonly generation: number;
  readonly serviceId: string;
  readonly subject: OptionSubject;
  /** The first instant at which the token is refused, in whole milliseconds since the epoch, less than 2^48. */
  readonly expiresAtMs: number;
}

/** Whom an option is for: the patient to book for, or the appointment to reschedule. */
export interface OptionSubject {
  readonly kind: "APPOINTMENT" | "PATIENT";
  readonly id: string;
}

/** Where each claim is in the bytes. Integers are big-endian; the first byte is the version of the layout. */
const layout = {
  version: 0,
  jti: 1,
  tenantId: 17,
  slotId: 33,
  generation: 49,
  serviceId: 53,
  subjectKind: 69,
  subjectId: 70,
  expiresAtMs: 86,
} as const;
const claimsBytes = 92;
const layoutVersion = 1;
const expiryBytes = 6;
const uuidBytes = 16;
const subjectKinds: readonly OptionSubject["kind"][] = ["APPOINTMENT", "PATIENT"];

/** The claims as 92 bytes. Throws a RangeError for an id that is no UUID in lower case or a number out of its range. */
export function encodeClaims(claims: OptionClaims): Uint8Array {
  const bytes = Buffer.alloc(claimsBytes);
  bytes.writeUInt8(layoutVersion, layout.version);
  writeUuid(bytes, claims.jti, layout.jti);
  writeUuid(bytes, claims.tenantId, layout.tenantId);
  writeUuid(bytes, claims.slotId, layout.slotId);
  bytes.writeUInt32BE(claims.generation, layout.generation);
  writeUuid(bytes, claims.serviceId, layout.serviceId);
  bytes.writeUInt8(subjectKinds.indexOf(claims.subject.kind) + 1, layout.subjectKind);
  writeUuid(bytes, claims.subject.id, layout.subjectId);
  bytes.writeUIntBE(claims.expiresAtMs, layout.expiresAtMs, expiryBytes);
  return bytes;
}

/** The claims that bytes hold, or undefined where their length, their version or the kind of subject is another. */
export function decodeClaims(plaintext: Uint8Array): OptionClaims | undefined {
  const bytes = Buffer.from(plaintext.buffer, plaintext.byteOffset, plaintext.byteLength);
  if (bytes.length !== claimsBytes || bytes.readUInt8(layout.version) !== layoutVersion) return undefined;
  const kind = subjectKinds[bytes.readUInt8(layout.subjectKind) - 1];
  if (kind === undefined) return undefined;
  return {
    jti: readUuid(bytes, layout.jti),
    tenantId: readUuid(bytes, layout.tenantId),
    slotId: readUuid(bytes, layout.slotId),
    generation: bytes.readUInt32BE(layout.generation),
    serviceId: readUuid(bytes, layout.serviceId),
    subject: { kind, id: readUuid(bytes, layout.subjectId) },
    expiresAtMs: bytes.readUIntBE(layout.expiresAtMs, expiryBytes),
  };
}

function writeUuid(bytes: Buffer, text: string, offset: number): void {
  if (!isLowerCaseUuid(text)) throw new RangeError("an option is made of UUIDs in lower case");
  bytes.write(text.replaceAll("-", ""), offset, uuidBytes, "hex");
}

function readUuid(bytes: Buffer, offset: number): string {
  const hex = bytes.toString("hex", offset, offset + uuidBytes);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
