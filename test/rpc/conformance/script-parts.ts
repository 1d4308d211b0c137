import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FieldSchema } from "../../gen/script/v1/script_pb.js";

/** Returns the bytes of a text. */
export function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Returns a header or trailer of a script. */
export function field(name: string, ...values: string[]): MessageInitShape<typeof FieldSchema> {
  return { name, values };
}
