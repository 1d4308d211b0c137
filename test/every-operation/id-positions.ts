import { type DescField, type DescMessage, getExtension, getOption, type JsonObject } from "@bufbuild/protobuf";
import { field as fieldOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import * as rules from "../../src/gen/cupo/options/v1/rules_pb.js";

/**
 * Returns the places in a request where the id of a resource can stand, with JSON names: `patientId`,
 * `choices[0].appointmentId`, `practitionerIds[0]`.
 */
export function idPositions(message: DescMessage): string[] {
  return message.fields.flatMap((field) => {
    const place = field.fieldKind === "list" ? `${field.jsonName}[0]` : field.jsonName;
    if (field.message !== undefined) return idPositions(field.message).map((inner) => `${place}.${inner}`);
    return isId(field) ? [place] : [];
  });
}

/** Whether a field holds UUIDs, or an opaque id that is not of another system. */
function isId(field: DescField): boolean {
  const { type } = getOption(field, fieldOption);
  if (type.case === "string") return type.value.wellKnown.case === "uuid";
  if (type.case !== "repeated") return field.name.endsWith("_id");
  const { items } = type.value;
  return (
    getExtension(type.value, rules.uuids) ||
    (items?.type.case === "string" && items.type.value.wellKnown.case === "uuid")
  );
}

/** Returns the request with an id at a place. What the place needs around it is added. */
export function put(request: JsonObject, place: string, id: string): JsonObject {
  const changed = structuredClone(request);
  const steps = stepsOf(place);
  const last = steps.pop() ?? "";
  let held: object = changed;
  for (const [index, step] of steps.entries()) {
    const isList = /^\d/.test(steps[index + 1] ?? last);
    if (Reflect.get(held, step) === undefined) Reflect.set(held, step, isList ? [] : {});
    held = Reflect.get(held, step) as object;
  }
  Reflect.set(held, last, id);
  return changed;
}

/** Whether a request has a value at a place. */
export function has(request: JsonObject, place: string): boolean {
  return stepsOf(place).reduce<unknown>((held, step) => Reflect.get(Object(held), step), request) !== undefined;
}

function stepsOf(place: string): string[] {
  return place.match(/\w+/g) ?? [];
}
