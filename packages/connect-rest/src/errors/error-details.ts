import { create, type DescMessage, fromBinary, type JsonValue, type Registry, toJson } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";

/** A detail of an error: the JSON of a google.protobuf.Any. */
export type ErrorDetail = Readonly<Record<string, unknown>> & { readonly "@type": string };

type ConnectDetail = ConnectError["details"][number];

/**
 * Types whose own JSON can have members of any name, even `@type`. So inside a google.protobuf.Any, their JSON is
 * nested in the member `value`. If the JSON of another type is an object, its members stand beside `@type`.
 */
const typesOfAnyObject = new Set(["google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value"]);

/**
 * Returns the details of an error as JSON. A detail that the application created contains its type. A detail from
 * another server is binary: it is included if `registry` has its type, otherwise omitted. A detail that cannot be
 * written as JSON is omitted too, because every error must have an answer.
 */
export function errorDetails({ details }: ConnectError, registry?: Registry): readonly ErrorDetail[] {
  return details.flatMap((detail) => {
    try {
      return detailOf(detail, registry);
    } catch {
      return [];
    }
  });
}

function detailOf(detail: ConnectDetail, registry: Registry | undefined): readonly ErrorDetail[] {
  const desc = "desc" in detail ? detail.desc : registry?.getMessage(detail.type);
  if (desc === undefined) return [];
  const message = "desc" in detail ? create(desc, detail.value) : fromBinary(desc, detail.value);
  return [anyOf(desc, toJson(desc, message, registry === undefined ? {} : { registry }))];
}

function anyOf(desc: DescMessage, json: JsonValue): ErrorDetail {
  const type = { "@type": `type.googleapis.com/${desc.typeName}` };
  const hasMembers = typeof json === "object" && json !== null && !Array.isArray(json);
  return hasMembers && !typesOfAnyObject.has(desc.typeName) ? { ...type, ...json } : { ...type, value: json };
}
