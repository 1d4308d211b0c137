import type { DescMethodUnary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { operationName } from "../../src/operation.js";
import { httpBindings } from "../../src/rest/routes/http-rule.js";
import { servedServices } from "../../src/services/services.js";
import { rpcFormats } from "../support/raw-rpc.js";
import { goodMembers, MARKER } from "./good-values.js";
import { oddValues, spoiled } from "./odd-values.js";
import type { Draft, DraftMembers } from "./pending.js";

/** How a request is sent: `REST`, or one of the formats of RPCs. */
export type Way = string;

/** Bytes in place of others, after the request was written. */
export interface Damage {
  /** Where, in parts of 1,000 of its length. */
  readonly at: number;
  /** How many bytes are gone. */
  readonly gone: number;
  readonly bytes: Uint8Array;
}

/** A request to an operation, as chance has it. */
export interface GeneratedRequest {
  readonly method: DescMethodUnary;
  readonly way: Way;
  /** The message: a record of its members, or something that is none. */
  readonly body: Draft;
  /** Instead of those of a good request; null for none. */
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

/** Every operation that answers by one message. */
export const fuzzedOperations: readonly DescMethodUnary[] = servedServices
  .flatMap(({ service }) => service.methods)
  .filter((method) => method.methodKind === "unary")
  .map((method) => method as DescMethodUnary);

/** Requests to an operation in every way that it is served: good, nearly good, and hostile. */
export function requestsTo(method: DescMethodUnary): fc.Arbitrary<GeneratedRequest> {
  const rpc = Object.keys(rpcFormats);
  const ways = isPublished(method) ? [...rpc.map(() => "REST"), ...rpc] : rpc;
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

export function isPublished(method: DescMethodUnary): boolean {
  return httpBindings(method).length > 0;
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

/** `patientId` for UpdatePatient: what a member `id` of a request is the id of. */
function ownIdName({ name }: DescMethodUnary): string {
  const resource = name.replace(/^[A-Z][a-z]+/, "");
  return `${resource.charAt(0).toLowerCase()}${resource.slice(1)}Id`;
}

/** A mask of some of the members, which only RPCs have. */
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
