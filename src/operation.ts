import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { type Operation, Operation_IdempotencyKey } from "./gen/cupo/options/v1/options_pb.js";
import { memoized } from "./memoized.js";
import { httpRuleOf, statedOperationOf } from "./proto-options.js";

/** The package of the published operations. */
const ACCESS_PACKAGE = "cupo.access.v1";

/** The prefix of the operations of `cupo.clinic.v1` over REST, on each listener that serves them. */
export const CLINIC_BASE_PATH = "/api/clinic/v1";

/**
 * Whether an RPC service belongs to the interface specification: its package is `cupo.access.v1`. The package of the
 * other RPC services is `cupo.clinic.v1`.
 */
export function isPublished({ file }: Pick<DescService, "file">): boolean {
  return file.proto.package === ACCESS_PACKAGE;
}

/** Returns the full name of an RPC, such as `cupo.access.v1.PatientService/RegisterPatient`. */
export function operationName(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/**
 * Returns the operation option of an RPC with its defaults. `successStatus` is 200 unless the option states another
 * status. `errorStatuses` also includes the statuses that the operation has even if the option does not state them,
 * such as 401. Throws if the option is missing or states no scope.
 */
export const operationOf = memoized((method: DescMethod): Operation => {
  const operation = statedOperationOf(method);
  if (operation.scope === "") throw new Error(`${operationName(method)} has no cupo.options.v1.operation with a scope`);
  const errorStatuses = [...new Set([...sharedStatuses(method, operation), ...operation.errorStatuses])];
  return {
    ...operation,
    successStatus: operation.successStatus || 200,
    errorStatuses: errorStatuses.toSorted((one, other) => one - other),
  };
});

/**
 * Returns the error statuses that an operation has even if its proto does not state them (specification sections 4.1
 * and 7).
 */
function sharedStatuses(method: DescMethod, { idempotencyKey }: Operation): number[] {
  const statuses = [400, 401, 403, 422, 429];
  if (idempotencyKey !== Operation_IdempotencyKey.NONE) statuses.push(409);
  if (!isPublished(method.parent) || pathTemplate(method).startsWith("/admin/")) statuses.push(500);
  return statuses;
}

/** Whether calls of an RPC require an idempotency key: yes, unless the proto states `idempotency_key: NONE`. */
export function takesIdempotencyKey(method: DescMethod): boolean {
  return operationOf(method).idempotencyKey !== Operation_IdempotencyKey.NONE;
}

/**
 * Whether answers to GET have an entity tag. Only unary operations of `cupo.clinic.v1` with a name such as `GetProgram`
 * (AIP-131) have such tags. Some of them return a report, such as GetOccupancy.
 */
export function hasEntityTag(method: DescMethod): boolean {
  return !isPublished(method.parent) && method.methodKind === "unary" && /^Get[A-Z]/.test(method.name);
}

/**
 * Whether an RPC may run on a replica of the database: it has no side effects, and it returns pages or has the proto
 * option `heavy`. A read on a replica first asks the primary for its log position. For other reads, this extra query
 * costs too much.
 */
export function isReplicable(method: DescMethod): boolean {
  const isLarge = operationOf(method).heavy || method.input.fields.some(({ name }) => name === "page_size");
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS && isLarge;
}

/**
 * Returns the request fields that the published REST interface reads from the path, by proto name. If such a field is
 * invalid, the answer is 400, as the interface specification says. Returns no fields for the operations of
 * `cupo.clinic.v1`: they answer 422 for each invalid field.
 */
export function pathFields(method: DescMethod): ReadonlySet<string> {
  if (!isPublished(method.parent)) return new Set();
  return new Set(Array.from(pathTemplate(method).matchAll(/\{([^}=]+)/g), ([, name]) => name ?? ""));
}

/** Whether an RPC's REST request has no body, so that its fields are in the path and the query. */
export function hasQuery(method: DescMethod): boolean {
  return /^(?:get|delete)$/.test(httpRuleOf(method).pattern.case ?? "");
}

function pathTemplate(method: DescMethod): string {
  const { pattern } = httpRuleOf(method);
  return typeof pattern.value === "string" ? pattern.value : "";
}
