import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { childFields, type Fields, oneofCase } from "./json/message-fields.js";
import type { JsonTree } from "./json/read-json.js";
import { isLeaf } from "./json/read-leaf.js";
import { createFieldReader, type ReadRules } from "./json/read-message.js";
import { addViolation, type Violations } from "./violations/collect-violations.js";
import { type Place, placeOf } from "./violations/place.js";

/** Puts the texts of one parameter into the field that it is for, in the request message. */
export type ReadParameter = (texts: readonly string[], request: Fields, violations: Violations) => void;

const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const dynamicTypes = new Set(["google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"]);

/**
 * The reader of a variable of the path or a parameter of the query, for the leaf at the end of `fields`, through the singular
 * messages before it. A text is what JSON would have there, strings without their quotes, and is read as strictly. A
 * repeated field takes every text, any other exactly one. Undefined where values of the leaf have no bare text: messages
 * without a JSON form of their own, maps and dynamic values.
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
  const at = placeOf(fields);
  return (texts, request, violations) => {
    const trees = texts.map(treeOf);
    const target = descend(request, parents);
    const [tree = null] = trees;
    if (target === undefined || isTaken(target, leaf)) refuseOneof(violations, at);
    else if (leaf.fieldKind === "list") read(trees, target, at, violations);
    else if (trees.length === 1) read(tree, target, at, violations);
    else addViolation(violations, "DUPLICATE", at, "the parameter can be given only once");
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

function refuseOneof(violations: Violations, at: Place | undefined): void {
  addViolation(violations, "INVALID_VALUE", at, "another member of the same oneof has a value");
}
