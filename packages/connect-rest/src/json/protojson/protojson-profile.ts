import { addUnknownField } from "../../violations/collect-violations.js";
import type { JsonProfile } from "../json-profile.js";
import { bareText } from "./bare-text.js";
import { nullableField, withoutUnknownEnumNames } from "./nullable-field.js";
import { enumReader } from "./read-enum.js";
import { scalarReader } from "./read-scalar.js";
import { wellKnownReader } from "./read-well-known.js";
import { writeTimestamp } from "./write-time.js";

export interface ProtoJsonOptions {
  /** Whether to ignore members and parameters whose name is not a field, and unknown names of enum values. */
  readonly ignoreUnknownFields: boolean;
}

/**
 * Creates the profile that reads everything that the ProtoJSON specification allows
 * (protobuf.dev/programming-guides/json): proto names or JSON names, enum numbers, quoted numbers, both base64
 * alphabets, and `null` for an absent field. Timestamps are written with all their nanoseconds.
 */
export function protoJsonProfile({ ignoreUnknownFields }: ProtoJsonOptions): JsonProfile {
  return {
    memberNames: ({ jsonName, name }) => (name === jsonName ? [jsonName] : [jsonName, name]),
    scalarReader,
    enumReader,
    wellKnownReader,
    fieldReader: (field, read) =>
      nullableField(field, ignoreUnknownFields ? withoutUnknownEnumNames(field, read) : read),
    bareText,
    unknownName: ignoreUnknownFields ? () => {} : addUnknownField,
    requiresCollections: false,
    writeTimestamp,
  };
}
