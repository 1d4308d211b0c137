import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  type Operation,
  Operation_IdempotencyKey,
  operation as operationOption,
} from "./gen/cupo/options/v1/options_pb.js";
import { http as httpOption } from "./gen/google/api/annotations_pb.js";

const pathFieldsByMethod = new WeakMap<DescMethod, ReadonlySet<string>>();
const namesByMethod = new WeakMap<DescMethod, string>();
const operationsByMethod = new WeakMap<DescMethod, Operation>();

/** The full name of an RPC: `cupo.access.v1.PatientService/RegisterPatient`. */
export function operationName(method: DescMethod): string {
  return remembered(namesByMethod, method, () => `${method.parent.typeName}/${method.name}`);
}

/** What an RPC requires and answers, from its option in the proto. Throws for an RPC without the option. */
export function operationOf(method: DescMethod): Operation {
  return remembered(operationsByMethod, method, () => {
    const operation = getOption(method, operationOption);
    if (operation.scope === "")
      throw new Error(`${operationName(method)} has no cupo.options.v1.operation with a scope`);
    return operation;
  });
}

/** Whether a call of an RPC must name an idempotency key: every one does that does not say in its proto that it takes none. */
export function takesIdempotencyKey(method: DescMethod): boolean {
  return operationOf(method).idempotencyKey !== Operation_IdempotencyKey.NONE;
}

/**
 * Whether an RPC may be done on a replica: it has no side effects, and it is a search, a list or heavy, beside which it costs
 * little to ask the primary how far the replica must have come.
 */
export function isReplicable(method: DescMethod): boolean {
  const isLarge = operationOf(method).heavy || method.input.fields.some(({ name }) => name === "page_size");
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS && isLarge;
}

/** The request fields, by proto name, that REST takes from the path. */
export function pathFields(method: DescMethod): ReadonlySet<string> {
  return remembered(pathFieldsByMethod, method, () => {
    const { pattern } = getOption(method, httpOption);
    const template = typeof pattern.value === "string" ? pattern.value : "";
    return new Set(Array.from(template.matchAll(/\{([^}=]+)/g), ([, name]) => name ?? ""));
  });
}

function remembered<V>(memory: WeakMap<DescMethod, V>, method: DescMethod, compute: () => V): V {
  const known = memory.get(method);
  if (known !== undefined) return known;
  const value = compute();
  memory.set(method, value);
  return value;
}
