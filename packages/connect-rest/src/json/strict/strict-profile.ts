import { addUnknownField } from "../../violations/collect-violations.js";
import type { JsonProfile } from "../json-profile.js";
import { bareText } from "./bare-text.js";
import { enumReader } from "./read-enum.js";
import { scalarReader } from "./read-scalar.js";
import { wellKnownReader } from "./read-well-known.js";
import { writeTimestamp } from "./write-time.js";

/**
 * ProtoJSON without most of its alternatives. Only JSON names of fields, names of enum values and padded base64 are
 * accepted. A field without a value must be absent and not `null`. Timestamps are written with a fixed width.
 */
export const strictProfile: JsonProfile = {
  memberNames: ({ jsonName }) => [jsonName],
  scalarReader,
  enumReader,
  wellKnownReader,
  fieldReader: (_, read) => read,
  bareText,
  unknownName: addUnknownField,
  requiresCollections: true,
  writeTimestamp,
};
