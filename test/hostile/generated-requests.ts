import type { DescMethodUnary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { TenantService } from "../../src/gen/cupo/clinic/v1/tenant_service_pb.js";
import { operationName } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";
import { rpcFormats } from "../support/raw-rpc.js";
import { goodMembers, MARKER } from "./good-values.js";
import { oddValues, spoiled } from "./odd-values.js";
import type { Draft, DraftMembers } from "./pending.js";

/** `REST`, or the name of an RPC format. */
export type Way = string;

/** A replacement of bytes in the encoded request. */
export interface Damage {
  /** Position, in thousandths of the length. */
  readonly at: number;
  /** Number of removed bytes. */
  readonly gone: number;
  readonly bytes: Uint8Array;
}

/** A generated request to an operation. */
export interface GeneratedRequest {
  readonly method: DescMethodUnary;
  readonly way: Way;
  /** The message: an object with its members, or any other value. */
  readonly body: Draft;
  /** Headers that replace those of a valid request; null removes a header. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly damage: Damage | undefined;
}

const ODD_HEADERS: readonly GeneratedRequest["headers"][] = [
  { "idempotency-key": null },
  { "idempotency-key": `${MARKER} ${MARKER}` },
  { "idempotency-key": MARKER.repeat(40) },
  { "idempotency-key": MARKER },
  { "x-correlation-id": MARKER },
  { authorization: null },
  { authorization: `Bearer ${MARKER}` },
  { accept: MARKER, "accept-language": MARKER },
];

/** Every unary operation, except those of operators, which the public listener does not serve. */
export const fuzzedOperations: readonly DescMethodUnary[] = servedServices
  .filter(({ service }) => service !== TenantService)
  .flatMap(({ service }) => service.methods)
  .filter((method) => method.methodKind === "unary")
  .map((method) => method as DescMethodUnary);

/** Generates requests to an operation for all its protocols: valid, nearly valid and invalid ones. */
export function requestsTo(method: DescMethodUnary): fc.Arbitrary<GeneratedRequest> {
  const rpc = Object.keys(rpcFormats);
  const ways = [...rpc.map(() => "REST"), ...rpc];
  return fc
    .record({
      method: fc.constant(method),
      way: fc.constantFrom(...ways),
      body: bodiesOf(method),
      headers: fc.oneof(
        { weight: 12, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.constantFrom(...ODD_HEADERS) },
      ),
      damage: fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: damages() }),
    })
    .map((request) => withText(request));
}

function bodiesOf(method: DescMethodUnary): fc.Arbitrary<Draft> {
  const good = goodMembers(method.input, ownIdName(method));
  const masked = method.input.fields.some(({ name }) => name === "update_mask") ? [withMask(good)] : [];
  return fc.oneof(
    { weight: 4, arbitrary: fc.oneof(good, ...masked) },
    { weight: 4, arbitrary: spoiled(good) },
    { weight: 1, arbitrary: oddValues() },
  );
}

/** Returns the full name of a request's member `id`: `patientId` for UpdatePatient. */
function ownIdName({ name }: DescMethodUnary): string {
  const resource = name.replace(/^[A-Z][a-z]+/, "");
  return `${resource.charAt(0).toLowerCase()}${resource.slice(1)}Id`;
}

/** Adds an update mask with some of the members. Only RPCs have masks. */
function withMask(good: fc.Arbitrary<DraftMembers>): fc.Arbitrary<DraftMembers> {
  return fc.tuple(good, fc.nat({ max: 3 })).map(([members, skipped]) => {
    const named = Object.keys(members).filter((name) => !/Id$|^id$|^expectedVersion$/.test(name));
    return Object.assign({}, members, { updateMask: named.slice(skipped === 3 ? 1 : 0).join() });
  });
}

function damages(): fc.Arbitrary<Damage> {
  return fc.record({
    at: fc.nat({ max: 1_000 }),
    gone: fc.nat({ max: 4 }),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.constantFrom("}", "{", '"', ",", "[", "1e999", "nul", "\\u0000", "\ufeff").map((text) => Buffer.from(text)),
    ),
  });
}

function withText(request: GeneratedRequest): GeneratedRequest {
  const { method, way, body, headers, damage } = request;
  const bytes = damage && { ...damage, bytes: Buffer.from(damage.bytes).toString("hex") };
  const toString = () => `${operationName(method)}, ${way}: ${fc.stringify({ body, headers, damage: bytes })}`;
  return Object.defineProperty(request, "toString", { value: toString, enumerable: false });
}
