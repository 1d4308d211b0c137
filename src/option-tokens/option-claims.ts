import { createHash } from "node:crypto";
import { isLowerCaseUuid, writeLowerCaseUuid } from "../uuid.js";

/**
 * The claims of an option token. An option is a bookable slot that a search found, or that a hold reserves. The claims
 * describe the slot as it was when it was found or held. Ids are UUIDs in lower case.
 */
export interface OptionClaims {
  /** Id of the token. A token can be used only once. */
  readonly jti: string;
  /** The slot, or the first of several consecutive slots. */
  readonly slotId: string;
  /** Duration of all slots together in minutes, 1 to 65,535. */
  readonly minutes: number;
  /**
   * The `generation` that the program had when the slot was added, 0 to 4,294,967,295. Each change of the schedule
   * increases the `generation` of the program. If the option consists of several slots, this is the highest
   * `generation` among them.
   */
  readonly generation: number;
  readonly serviceId: string;
  /** Location of the slot. */
  readonly locationId: string;
  /** Whether the program of the slot is an emergency program. */
  readonly emergency: boolean;
  readonly subject: OptionSubject;
  /**
   * Minutes from the start until the visit of a new appointment ends, 1 to 65,535. A buffer follows, which only the
   * practitioner needs. Undefined without a buffer, for an appointment to move, and for the token of a hold.
   */
  readonly visitMinutes: number | undefined;
  /** Id of the hold that reserves the slot; undefined for the token of a search. */
  readonly holdId: string | undefined;
  /** The token is valid before this time, in whole milliseconds since the epoch, less than 2^48. */
  readonly expiresAtMs: number;
}

/** The subject of an option: the patient to book for, or the appointment to reschedule. */
export interface OptionSubject {
  readonly kind: "APPOINTMENT" | "PATIENT";
  readonly id: string;
}

/**
 * The callers who can use an option: those with exactly this tenant, organization and company. An undefined
 * organization or company admits only callers without one. Ids are UUIDs in lower case.
 */
export interface OptionHolder {
  readonly tenantId: string;
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
}

/**
 * The offset of each claim in the encoded claims. Integers are big-endian. The first byte is the version of the layout.
 */
const layout = {
  version: 0,
  jti: 1,
  holder: 17,
  slotId: 33,
  generation: 49,
  serviceId: 53,
  locationId: 69,
  emergency: 85,
  subjectKind: 86,
  subjectId: 87,
  expiresAtMs: 103,
  minutes: 109,
  holdId: 111,
  visitMinutes: 111,
} as const;
/**
 * The version and the length of the encoded claims: `searched` for tokens of a search, `buffered` for those with
 * `visitMinutes`, `held` for tokens of a hold. Older releases do not know `buffered`.
 */
const searched = { version: 3, bytes: 111 } as const;
const held = { version: 4, bytes: 127 } as const;
const buffered = { version: 5, bytes: 113 } as const;
const expiryBytes = 6;
const uuidBytes = 16;
const subjectKinds: readonly OptionSubject["kind"][] = ["APPOINTMENT", "PATIENT"];

/**
 * Encodes the claims as 111 bytes, as 127 with a hold, or else as 113 with `visitMinutes`. Stores only a 16-byte
 * digest of the holder, because the holder is compared and never read. Throws a RangeError for an id that is not a
 * lower-case UUID and for a number out of its range.
 */
export function encodeClaims(claims: OptionClaims, holder: OptionHolder): Uint8Array {
  const { holdId, visitMinutes } = claims;
  const form = holdId !== undefined ? held : visitMinutes !== undefined ? buffered : searched;
  const bytes = Buffer.allocUnsafe(form.bytes);
  bytes.writeUInt8(form.version, layout.version);
  writeUuid(bytes, claims.jti, layout.jti);
  digestOf(holder).copy(bytes, layout.holder);
  writeUuid(bytes, claims.slotId, layout.slotId);
  bytes.writeUInt32BE(claims.generation, layout.generation);
  writeUuid(bytes, claims.serviceId, layout.serviceId);
  writeUuid(bytes, claims.locationId, layout.locationId);
  bytes.writeUInt8(claims.emergency ? 1 : 0, layout.emergency);
  bytes.writeUInt8(subjectKinds.indexOf(claims.subject.kind) + 1, layout.subjectKind);
  writeUuid(bytes, claims.subject.id, layout.subjectId);
  bytes.writeUIntBE(claims.expiresAtMs, layout.expiresAtMs, expiryBytes);
  bytes.writeUInt16BE(claims.minutes, layout.minutes);
  if (holdId !== undefined) writeUuid(bytes, holdId, layout.holdId);
  else if (visitMinutes !== undefined) bytes.writeUInt16BE(visitMinutes, layout.visitMinutes);
  return bytes;
}

/**
 * Decodes the claims for this holder. Returns undefined for another holder, and for an invalid length, version or
 * content.
 */
export function decodeClaims(plaintext: Uint8Array, holder: OptionHolder): OptionClaims | undefined {
  const bytes = Buffer.from(plaintext.buffer, plaintext.byteOffset, plaintext.byteLength);
  const form = [searched, held, buffered].find((known) => known.bytes === bytes.length);
  if (form === undefined || bytes.readUInt8(layout.version) !== form.version) return undefined;
  if (!digestOf(holder).equals(bytes.subarray(layout.holder, layout.holder + uuidBytes))) return undefined;
  const kind = subjectKinds[bytes.readUInt8(layout.subjectKind) - 1];
  const emergency = bytes.readUInt8(layout.emergency);
  if (kind === undefined || emergency > 1) return undefined;
  return {
    jti: readUuid(bytes, layout.jti),
    slotId: readUuid(bytes, layout.slotId),
    minutes: bytes.readUInt16BE(layout.minutes),
    generation: bytes.readUInt32BE(layout.generation),
    serviceId: readUuid(bytes, layout.serviceId),
    locationId: readUuid(bytes, layout.locationId),
    emergency: emergency === 1,
    subject: { kind, id: readUuid(bytes, layout.subjectId) },
    visitMinutes: form === buffered ? bytes.readUInt16BE(layout.visitMinutes) : undefined,
    holdId: form === held ? readUuid(bytes, layout.holdId) : undefined,
    expiresAtMs: bytes.readUIntBE(layout.expiresAtMs, expiryBytes),
  };
}

/** Caches digests by holder object, because all options of a page have the same holder. */
const digests = new WeakMap<OptionHolder, Buffer>();

function digestOf(holder: OptionHolder): Buffer {
  const known = digests.get(holder);
  if (known !== undefined) return known;
  const { tenantId, organizationId, companyId } = holder;
  const ids = [tenantId, organizationId, companyId].map((id) => (id === undefined ? "" : requireUuid(id)));
  const digest = createHash("sha256").update(ids.join(" ")).digest().subarray(0, uuidBytes);
  digests.set(holder, digest);
  return digest;
}

function writeUuid(bytes: Buffer, text: string, offset: number): void {
  if (!writeLowerCaseUuid(bytes, text, offset)) throw badUuid();
}

function requireUuid(text: string): string {
  if (!isLowerCaseUuid(text)) throw badUuid();
  return text;
}

function badUuid(): RangeError {
  return new RangeError("the ids of an option must be lower-case UUIDs");
}

function readUuid(bytes: Buffer, offset: number): string {
  const hex = bytes.toString("hex", offset, offset + uuidBytes);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
