import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { ruleSentence } from "./rule-sentence.js";
import type { Translation, Unsaid } from "./translation.js";

/** The protobuf types that are numbers in JSON. 64-bit integers are missing, because in JSON they are strings. */
const NUMBERS: ReadonlySet<string> = new Set(["float", "double", "int32", "uint32", "sint32", "fixed32", "sfixed32"]);

/** Returns whether values of this protobuf type, such as "int32", are numbers in JSON. */
export function isNumberType(typeName: string): boolean {
  return NUMBERS.has(typeName);
}

const bounds: Readonly<Record<string, string>> = {
  gt: "exclusiveMinimum",
  gte: "minimum",
  lt: "exclusiveMaximum",
  lte: "maximum",
};

/** Translates the protovalidate rules of a value of the numeric type `typeName`, such as "int32". */
export function numberRules(typeName: string, rules: ReflectMessage): Translation {
  const isNumber = isNumberType(typeName);
  const json = (value: unknown): JsonValue => (isNumber ? Number(value) : String(value));
  const schemas: JsonObject[] = [];
  const unsaid: Unsaid[] = [];
  const range: Record<string, number> = {};
  for (const rule of rules.fields.filter((each) => rules.isSet(each))) {
    const value: unknown = rules.get(rule);
    const values = rule.fieldKind === "list" ? Array.from(value as Iterable<unknown>, json) : [];
    const bound = bounds[rule.name];
    if (rule.name === "const") schemas.push({ const: json(value) });
    else if (rule.name === "in") schemas.push({ enum: values });
    else if (rule.name === "not_in") schemas.push({ not: { enum: values } });
    else if (rule.name === "example") schemas.push({ examples: values });
    else if (rule.name === "finite") continue;
    else if (bound !== undefined && isNumber) range[bound] = Number(value);
    else unsaid.push(ruleSentence(typeName, rule, value));
  }
  return { schemas: [...schemas, ...rangeSchemas(range)], unsaid };
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
