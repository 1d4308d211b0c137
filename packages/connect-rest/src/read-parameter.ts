import type { DescField } from "@bufbuild/protobuf";
import type { JsonProfile } from "./json/json-profile.js";
import { childFields, type Fields, oneofCase } from "./json/message-fields.js";
import { isLeaf } from "./json/read-leaf.js";
import { createFieldReader, type ReadRules } from "./json/read-message.js";
import { addViolation, type Violations } from "./violations/collect-violations.js";
import { type FieldPath, pathOf } from "./violations/field-path.js";

/** Reads the values of one parameter, as texts, into the parameter's field in the request message. */
export type ReadParameter = (texts: readonly string[], request: Fields, violations: Violations) => void;

export interface ParameterRules extends Pick<ReadRules, "maxItems"> {
  readonly profile: JsonProfile;
}

const dynamicTypes = new Set(["google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"]);

/**
 * Creates the reader of a path variable or query parameter. `fields` is the path from the request message to the field
 * that receives the value (the leaf). All fields before the leaf are singular messages.
 * - A text is read like the same value in JSON, but a string has no quotes.
 * - A repeated field accepts up to `maxItems` texts (any number by default). Every other field accepts exactly one.
 *
 * Returns undefined if a text cannot represent the leaf: a map, a message without a special JSON form, or a
 * google.protobuf.Any, Struct, Value or ListValue.
 */
export function createParameterReader(fields: readonly DescField[], rules: ParameterRules): ReadParameter | undefined {
  const leaf = fields.at(-1);
  const parents = fields.slice(0, -1);
  if (leaf === undefined || !isLeaf(leaf, rules.profile) || dynamicTypes.has(leaf.message?.typeName ?? ""))
    return undefined;
  const { read } = createFieldReader(leaf, rules);
  const treeOf = rules.profile.bareText(leaf);
  const at = pathOf(fields);
  return (texts, request, violations) => {
    const trees = texts.map(treeOf);
    const target = descend(request, parents);
    const [tree = null] = trees;
    if (target === undefined || isTaken(target, leaf)) refuseOneof(violations, at);
    else if (leaf.fieldKind === "list") read(trees, target, at, violations);
    else if (trees.length === 1) read(tree, target, at, violations);
    else addViolation(violations, "DUPLICATE", at, "the parameter must be sent only once");
  };
}

function descend(request: Fields, parents: readonly DescField[]): Fields | undefined {
  let target = request;
  for (const field of parents) {
    if (field.fieldKind !== "message" || isTaken(target, field)) return undefined;
    target = childFields(target, field);
  }
  return target;
}

function isTaken(target: Fields, field: DescField): boolean {
  const taken = oneofCase(target, field);
  return taken !== undefined && taken !== field.localName;
}

function refuseOneof(violations: Violations, at: FieldPath | undefined): void {
  addViolation(violations, "INVALID_VALUE", at, "another member of the same oneof is already set");
}
