import type { Fields } from "./json/message-fields.js";
import { createParameterReader, type ReadParameter } from "./read-parameter.js";
import { percentDecode, percentDecodeReserved } from "./routes/percent-decode.js";
import type { BoundVariable, Route } from "./routes/routes.js";
import { addViolation, type Violations } from "./violations/collect-violations.js";
import { type Place, placeOf } from "./violations/place.js";

/** Reads the segments of a matched path, raw, into the request message. */
export type ReadPath = (segments: readonly string[], request: Fields, violations: Violations) => void;

interface Variable extends BoundVariable {
  readonly at: Place | undefined;
  readonly read: ReadParameter | undefined;
}

/**
 * Compiles the reader of a route's variables. Each segment is decoded once, segments of one variable are joined by slashes.
 * A segment that is not percent-encoded UTF-8 is a finding, also where no variable takes it.
 */
export function createPathReader({ template, variables }: Route): ReadPath {
  const compiled = variables.map((variable) => ({
    ...variable,
    at: placeOf(variable.fields),
    read: createParameterReader(variable.fields),
  }));
  const hasBareWildcards = template.segments.some(({ kind }, i) => kind !== "literal" && !isTaken(i, variables));
  return (segments, request, violations) => {
    for (const variable of compiled) readVariable(variable, segments, request, violations);
    if (!hasBareWildcards || violations.items.length > 0) return;
    if (segments.some((segment) => percentDecode(segment) === undefined)) refuse(violations, undefined);
  };
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

function refuse(violations: Violations, at: Place | undefined): void {
  addViolation(violations, "INVALID_FORMAT", at, "the path is not percent-encoded UTF-8");
}
