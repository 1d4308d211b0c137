import { type DescField, type DescMethod, getExtension, getOption } from "@bufbuild/protobuf";
import { field as fieldRules, type RepeatedRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import {
  operation,
  readable_with_scope as readableWithScope,
  removable,
  screened,
  screened_as as screenedAs,
} from "./gen/cupo/options/v1/options_pb.js";
import { uuids } from "./gen/cupo/options/v1/rules_pb.js";
import { http } from "./gen/google/api/annotations_pb.js";
import { field_behavior as fieldBehavior } from "./gen/google/api/field_behavior_pb.js";
import { memoized } from "./memoized.js";

/** The protovalidate rules of a field. */
export const fieldRulesOf = memoized((field: DescField) => getOption(field, fieldRules));
/** `google.api.field_behavior` of a field. */
export const fieldBehaviorOf = memoized((field: DescField) => getOption(field, fieldBehavior));
/** The scope that a caller needs to receive a field; "" if it needs none. */
export const readableWithScopeOf = memoized((field: DescField) => getOption(field, readableWithScope));
/** Whether an update can remove the value of a field. */
export const isRemovable = memoized((field: DescField) => getOption(field, removable));
/** Whether a field has a long text that is rejected if it contains credentials, diagnoses or financial data. */
export const isScreened = memoized((field: DescField) => getOption(field, screened));
/** The kind of a field's short text, such as a name or a code. The kind decides what the text must not contain. */
export const screenedAsOf = memoized((field: DescField) => getOption(field, screenedAs));
/** Whether the items of a list must be UUIDs. */
export const areUuids = memoized((rules: RepeatedRules) => getExtension(rules, uuids));
/** `google.api.http` of an RPC. */
export const httpRuleOf = memoized((method: DescMethod) => getOption(method, http));
/** The operation option of an RPC as its proto states it. `operationOf` adds the defaults. */
export const statedOperationOf = memoized((method: DescMethod) => getOption(method, operation));
