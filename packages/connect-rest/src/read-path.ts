import type { DescField } from "@bufbuild/protobuf";
import type { JsonProfile } from "./json/json-profile.js";
import { type Fields, setField } from "./json/message-fields.js";
import { createParameterReader, type ReadParameter } from "./read-parameter.js";
import { percentDecode, percentDecodeReserved } from "./routes/percent-decode.js";
import type { BoundVariable, Route } from "./routes/routes.js";
import { addViolation, type Violations } from "./violations/collect-violations.js";
import { type FieldPath, pathOf } from "./violations/field-path.js";

/** Reads the percent-encoded segments of a matched path into the request message. */
export type ReadPath = (segments: readonly string[], request: Fields, violations: Violations) => void;

interface Variable extends BoundVariable {
  readonly at: FieldPath | undefined;
  readonly read: ReadParameter | undefined;
}

/**
 * Returns a function that reads the variables of a route from the path. The text of a variable is its decoded segments,
 * joined by slashes. In a variable that can have several segments, `%2F` stays encoded. A segment that is not
 * percent-encoded UTF-8 is a violation, even if no variable contains the segment.
 *
 * If `takesAnyText` returns true for a top-level field, the field receives the text without a check. Otherwise, the
 * text is read into the field as {@link createParameterReader} describes.
 */
export function createPathReader(
  { template, variables }: Route,
  profile: JsonProfile,
  takesAnyText: (field: DescField) => boolean = () => false,
): ReadPath {
  const compiled = variables.map((variable) => {
    const { fields } = variable;
    const [field] = fields;
    const isAny = field !== undefined && fields.length === 1 && takesAnyText(field);
    const read = isAny ? textReader(field) : createParameterReader(fields, { profile });
    return { ...variable, at: pathOf(fields), read };
  });
  const hasBareWildcards = template.segments.some(({ kind }, i) => kind !== "literal" && !isTaken(i, variables));
  return (segments, request, violations) => {
    for (const variable of compiled) readVariable(variable, segments, request, violations);
    if (!hasBareWildcards || violations.items.length > 0) return;
    if (segments.some((segment) => percentDecode(segment) === undefined)) refuse(violations, undefined);
  };
}

function textReader(field: DescField): ReadParameter {
  return ([text], request) => setField(request, field, text);
}

function isTaken(segment: number, variables: readonly BoundVariable[]): boolean {
  return variables.some(({ start, end }) => segment >= start && (end === undefined || segment < end));
}

function readVariable(variable: Variable, segments: readonly string[], request: Fields, violations: Violations): void {
  const { start, end, multiSegment, at, read } = variable;
  const decode = multiSegment ? percentDecodeReserved : percentDecode;
  const texts = segments.slice(start, end).map(decode);
  if (texts.includes(undefined)) refuse(violations, at);
  else read?.([texts.join("/")], request, violations);
}

function refuse(violations: Violations, at: FieldPath | undefined): void {
  addViolation(violations, "INVALID_FORMAT", at, "the path is not percent-encoded UTF-8");
}
