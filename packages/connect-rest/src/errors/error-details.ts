import { create, type DescMessage, fromBinary, type JsonValue, type Registry, toJson } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";

/** A detail of an error: JSON of google.protobuf.Any. */
export type ErrorDetail = Readonly<Record<string, unknown>> & { readonly "@type": string };

type ConnectDetail = ConnectError["details"][number];

/** Types whose JSON can be any object. Its members are not fields of the type, so the object is in `value`. */
const typesOfAnyObject = new Set(["google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value"]);

/**
 * Returns the details of an error as JSON. A detail that an implementation threw contains its type. A detail that a
 * client received from another server is binary: it is shown if `registry` has its type, otherwise omitted. A detail
 * whose JSON cannot be written is omitted too, because an error must always have an answer.
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
