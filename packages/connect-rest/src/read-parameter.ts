import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { childFields, type Fields, oneofCase } from "./json/message-fields.js";
import type { JsonTree } from "./json/read-json.js";
import { isLeaf } from "./json/read-leaf.js";
import { createFieldReader, type ReadRules } from "./json/read-message.js";
import { addViolation, type Violations } from "./violations/collect-violations.js";
import { type FieldPath, pathOf } from "./violations/field-path.js";

/** Reads the texts of one parameter into its field of the request message. */
export type ReadParameter = (texts: readonly string[], request: Fields, violations: Violations) => void;

const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const dynamicTypes = new Set(["google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"]);

/**
 * Creates the reader of a path variable or query parameter. `fields` leads from the request message through singular
 * messages to the leaf that receives the value.
 *
 * Each text is read as strictly as the same value in JSON; strings have no quotes. A repeated field accepts any number
 * of texts, every other field exactly one.
 *
 * Returns undefined when the leaf has no form as bare text: a map, a dynamic value, or a message without a JSON form of
 * its own.
 */
export function createParameterReader(
  fields: readonly DescField[],
  rules: Pick<ReadRules, "maxItems"> = {},
): ReadParameter | undefined {
  const leaf = fields.at(-1);
  const parents = fields.slice(0, -1);
  if (leaf === undefined || !isLeaf(leaf) || dynamicTypes.has(leaf.message?.typeName ?? "")) return undefined;
  const { read } = createFieldReader(leaf, rules);
  const treeOf = treeReader(leaf);
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

function treeReader(field: DescField): (text: string) => JsonTree {
  const wrapped = field.message !== undefined && isWrapperDesc(field.message) ? field.message.fields[0] : undefined;
  const scalar = wrapped?.scalar ?? field.scalar;
  if (scalar === ScalarType.BOOL) return (text) => (text === "true" || text === "false" ? text === "true" : text);
  if (scalar === undefined || scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return (text) => text;
  return (text) => (jsonNumber.test(text) ? { number: text } : text);
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
