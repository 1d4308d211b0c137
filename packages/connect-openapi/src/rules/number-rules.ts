import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { ruleSentence } from "./rule-sentence.js";
import type { Translation, Unsaid } from "./translation.js";

const NUMBER_TYPE = /^(?:float|double|(?:s|u)?int(?:32|64)|s?fixed(?:32|64))$/;

/** Returns whether a protobuf type, such as "int32", is a numeric type. */
export function isNumberType(typeName: string): boolean {
  return NUMBER_TYPE.test(typeName);
}

/** A decimal with this many digits identifies a float. */
const MAX_FLOAT_DIGITS = 9;

const bounds: Readonly<Record<string, string>> = {
  gt: "exclusiveMinimum",
  gte: "minimum",
  lt: "exclusiveMaximum",
  lte: "maximum",
};

/**
 * Translates the protovalidate rules of a value of the numeric type `typeName`, such as "int32". `isNumber` is false if
 * the value is text in JSON, as 64-bit integers and map keys are.
 */
export function numberRules(typeName: string, rules: ReflectMessage, isNumber: boolean): Translation {
  const json = (value: unknown): JsonValue[] =>
    typeName === "float" ? floatForms(Number(value)) : [isNumber ? Number(value) : String(value)];
  const schemas: JsonObject[] = [];
  const unsaid: Unsaid[] = [];
  const range: Record<string, number> = {};
  for (const rule of rules.fields.filter((each) => rules.isSet(each))) {
    const value: unknown = rules.get(rule);
    if (isNumber && rule.fieldKind !== "list" && typeof value === "number" && !Number.isFinite(value)) {
      unsaid.push(ruleSentence(typeName, rule, value));
      continue;
    }
    const values =
      rule.fieldKind === "list"
        ? Array.from(value as Iterable<unknown>, json)
            .flat()
            .filter(isJson)
        : [];
    const bound = bounds[rule.name];
    if (rule.name === "const") schemas.push(oneOf(json(value)));
    else if (rule.name === "in") schemas.push({ enum: values });
    else if (rule.name === "not_in") schemas.push({ not: { enum: values } });
    else if (rule.name === "example") schemas.push({ examples: values });
    else if (rule.name === "finite") continue;
    else if (bound !== undefined && isNumber) range[bound] = limitOf(rule.name, json(value).map(Number));
    else unsaid.push(ruleSentence(typeName, rule, value));
  }
  return { schemas: [...schemas, ...rangeSchemas(range)], unsaid };
}

/**
 * Returns the JSON numbers that clients write for a float: the shortest decimal that is read as this float, and its
 * exact value. The float of 0.1 is 0.10000000149011612.
 */
function floatForms(value: number): number[] {
  const decimals = Array.from({ length: MAX_FLOAT_DIGITS }, (_, index) => Number(value.toPrecision(index + 1)));
  const shortest = decimals.find((decimal) => Math.fround(decimal) === value) ?? value;
  return [...new Set([shortest, value])];
}

/** Returns false for NaN and Infinity, which JSON has no numbers for. */
function isJson(value: JsonValue): boolean {
  return typeof value !== "number" || Number.isFinite(value);
}

function oneOf(values: JsonValue[]): JsonObject {
  const [only = null] = values;
  return values.length === 1 ? { const: only } : { enum: values };
}

/**
 * Returns the form of a limit to use in the keyword. With this form, the keyword accepts all forms of the limit if the
 * rule accepts the limit itself (`gte`, `lte`), and otherwise rejects all.
 */
function limitOf(rule: string, forms: readonly number[]): number {
  return rule === "gte" || rule === "lt" ? Math.min(...forms) : Math.max(...forms);
}

/**
 * Returns the schemas of a range. If the lower limit is above the upper limit, protovalidate allows the numbers outside
 * of the two limits: `gt: 10, lt: 5` allows 3 and 12.
 */
function rangeSchemas(range: Readonly<Record<string, number>>): JsonObject[] {
  const sides = Object.entries(range).map(([keyword, limit]) => ({ [keyword]: limit }));
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = range;
  const [lower, upper] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum];
  return lower !== undefined && upper !== undefined && lower > upper ? [{ anyOf: sides }] : sides;
}
