import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { type ErrorCode, errorTable, type FieldErrorCode } from "../errors.js";
import { ruleCode } from "../interceptors/validation/rule-codes.js";
import { ruleIdsOfField, ruleIdsOfMessage } from "../interceptors/validation/rule-ids.js";
import { screeningCodesOf } from "../interceptors/validation/screen-message.js";
import { maxItemsOf } from "../interceptors/validation/size-limits.js";
import { hasQuery, operationOf, pathFields, takesIdempotencyKey } from "../operation.js";
import { fieldCodes } from "./field-codes.js";

/** Codes in `errors`, grouped by the code of the Problem that contains them. */
export type CodesByProblem = Readonly<Partial<Record<ErrorCode, readonly FieldErrorCode[]>>>;

type Found = readonly (readonly [ErrorCode, FieldErrorCode])[];

/**
 * Codes that every operation can return, whatever its fields are. They are caused by its headers, its path or its JSON
 * message, or by a busy service.
 */
const ofEvery: Found = [
  ...pairs("INVALID_REQUEST", ["UNKNOWN_FIELD", "INVALID_VALUE", "INVALID_FORMAT", "INVALID_UUID"]),
  ...pairs("INVALID_REQUEST", ["TOO_SHORT", "TOO_LONG", "MORE_ERRORS"]),
  ...pairs("VALIDATION_FAILED", ["UNKNOWN_FIELD", "INVALID_TYPE", "MORE_ERRORS"]),
  ...pairs("SERVICE_UNAVAILABLE", ["BUSY", "TIMEOUT"]),
];

const ofKeyed: Found = [
  ...pairs("INVALID_REQUEST", ["REQUIRED"]),
  ...pairs("CONCURRENT_MODIFICATION", ["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_PROGRESS", "TENANT_SUSPENDED"]),
];

const ofQuery: Found = pairs("INVALID_REQUEST", ["INVALID_TYPE", "DUPLICATE"]);

const ofWellKnown: Readonly<Record<string, readonly FieldErrorCode[]>> = {
  "google.protobuf.Timestamp": ["INVALID_DATE_TIME"],
  "google.protobuf.Duration": ["INVALID_FORMAT", "OUT_OF_RANGE"],
  "google.protobuf.FieldMask": ["INVALID_FORMAT", "INVALID_VALUE", "REQUIRED"],
};

const fieldErrorCodes = Object.keys(fieldCodes) as FieldErrorCode[];
const known = new WeakMap<DescMethod, CodesByProblem>();

/**
 * Returns the codes that an operation can return in `errors`, grouped by the code of the Problem and in the order of
 * {@link fieldCodes}. They follow from the proto of the operation and from `answeredBy` in {@link fieldCodes}. The
 * result has only SERVICE_UNAVAILABLE and the Problems whose HTTP status is listed in the proto.
 */
export function codesOf(method: DescMethod): CodesByProblem {
  const codes = known.get(method) ?? findCodes(method);
  known.set(method, codes);
  return codes;
}

function findCodes(method: DescMethod): CodesByProblem {
  const found = [...ofEvery, ...byTraits(method), ...byFields(method), ...byService(method)];
  const problems = (Object.keys(errorTable) as ErrorCode[]).filter((problem) => canAnswer(method, problem));
  const rows = problems.map((problem) => {
    const own = new Set(found.filter(([each]) => each === problem).map(([, code]) => code));
    return [problem, fieldErrorCodes.filter((code) => own.has(code))] as const;
  });
  return Object.fromEntries(rows.filter(([, codes]) => codes.length > 0));
}

function canAnswer(method: DescMethod, problem: ErrorCode): boolean {
  return problem === "SERVICE_UNAVAILABLE" || operationOf(method).errorStatuses.includes(errorTable[problem].status);
}

function byTraits(method: DescMethod): Found {
  const { fields } = method.input;
  const has = (name: RegExp) => fields.some((field) => name.test(field.name));
  const isKeyed = takesIdempotencyKey(method);
  return [
    ...(isKeyed ? ofKeyed : []),
    ...(hasQuery(method) ? ofQuery : []),
    ...(isKeyed && tellsOfPatients(method.output) ? pairs("CONCURRENT_MODIFICATION", ["RESULT_ERASED"]) : []),
    ...(has(/expected_version$/) ? pairs("CONCURRENT_MODIFICATION", ["STALE_VERSION"]) : []),
    ...(isKeyed && has(/^code$/) ? pairs("CONCURRENT_MODIFICATION", ["DUPLICATE"]) : []),
    ...(has(/^page_token$/) ? pairs("VALIDATION_FAILED", ["INVALID_VALUE"]) : []),
  ];
}

function byFields(method: DescMethod): Found {
  const inPath = pathFields(method);
  return [
    ...codesOfMessage(method.input, []).flatMap((code) => pairs("VALIDATION_FAILED", [code])),
    ...method.input.fields
      .filter(({ name }) => inPath.has(name))
      .flatMap((field) => pairs("INVALID_REQUEST", codesOfField(field, []))),
    ...(hasQuery(method)
      ? method.input.fields.flatMap((field) => pairs("INVALID_REQUEST", codesOfType(field, [])))
      : []),
  ];
}

/**
 * Returns the codes that the rules and the fields of a message can cause. `seen` ends the recursion in messages that
 * contain themselves.
 */
function codesOfMessage(message: DescMessage, seen: readonly DescMessage[]): FieldErrorCode[] {
  if (seen.includes(message)) return [];
  const ofRules = ruleIdsOfMessage(message).map((id) => ruleCode(id).code);
  const ofChoices: FieldErrorCode[] = message.oneofs.length > 0 ? ["INVALID_VALUE"] : [];
  return [...ofRules, ...ofChoices, ...message.fields.flatMap((field) => codesOfField(field, [...seen, message]))];
}

function codesOfField(field: DescField, seen: readonly DescMessage[]): FieldErrorCode[] {
  return [
    ...ruleIdsOfField(field).map((id) => ruleCode(id).code),
    ...(maxItemsOf(field) === undefined ? [] : ["TOO_MANY" as const]),
    ...screeningCodesOf(field),
    ...codesOfType(field, seen),
  ];
}

function codesOfType({ enum: values, message, scalar }: DescField, seen: readonly DescMessage[]): FieldErrorCode[] {
  if (message !== undefined) return [...(ofWellKnown[message.typeName] ?? codesOfMessage(message, seen))];
  if (values !== undefined || scalar === ScalarType.STRING) return ["INVALID_VALUE"];
  if (scalar === ScalarType.BYTES) return ["INVALID_FORMAT"];
  return scalar === ScalarType.BOOL ? [] : ["OUT_OF_RANGE"];
}

function byService({ name }: DescMethod): Found {
  return fieldErrorCodes.flatMap((code) => {
    const { answeredBy = {} } = fieldCodes[code];
    const problems = (Object.keys(answeredBy) as ErrorCode[]).filter((problem) => answeredBy[problem]?.includes(name));
    return problems.flatMap((problem) => pairs(problem, [code]));
  });
}

/**
 * Returns whether a message contains a patient or a case, or an id of one, at any depth. When a patient is erased, the
 * service deletes the stored responses that contain such a message. A retry with the same idempotency key then fails.
 */
function tellsOfPatients(message: DescMessage, seen: readonly DescMessage[] = []): boolean {
  if (/^(Patient|UserAttentionCase)$/.test(message.name)) return true;
  return message.fields.some((field) => {
    if (/(^|_)(patient|user_attention_case)_ids?$/.test(field.name)) return true;
    const below = field.message;
    return below !== undefined && !seen.includes(below) && tellsOfPatients(below, [...seen, message]);
  });
}

function pairs(problem: ErrorCode, codes: readonly FieldErrorCode[]): Found {
  return codes.map((code) => [problem, code]);
}
