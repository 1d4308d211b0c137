import type { DescEnum, DescField, DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Violations } from "../violations/collect-violations.js";
import type { FieldPath } from "../violations/field-path.js";
import type { Fields } from "./message-fields.js";
import type { JsonTree } from "./read-json.js";

/** Reads one value. Returns undefined for an invalid value and adds a violation. */
export type ReadValue = (tree: JsonTree, at: FieldPath | undefined, violations: Violations) => unknown;

/** Reads a JSON value into the fields of a message; adds to fields that are already set. */
export type ReadInto = (tree: JsonTree, into: Fields, at: FieldPath | undefined, violations: Violations) => void;

/** Reads a member name that is data, such as a map key. Returns undefined for an invalid name and adds a violation. */
export type ReadName = (name: string, at: FieldPath, violations: Violations) => string | undefined;

/**
 * The JSON of a handler: which spellings of a value it reads and how it writes a value. A profile is a set of small
 * readers; the readers of messages, lists and maps are the same for every profile. They ask the profile when they are
 * compiled, not for each value.
 */
export interface JsonProfile {
  /** The names that a member for this field may have. The first is the JSON name. */
  memberNames(field: DescField): readonly string[];
  /** Returns the reader of a scalar type. With `longAsString` it returns 64-bit integers as text. */
  scalarReader(scalar: ScalarType, longAsString?: boolean): ReadValue;
  enumReader(schema: DescEnum): ReadValue;
  /**
   * Returns the reader of a message type that has a JSON form of its own. The reader returns the value that protobuf-es
   * stores in a field of this type. Returns undefined for every other type, for google.protobuf.Any, and for wrappers,
   * which are read as scalars.
   */
  wellKnownReader(schema: DescMessage): ReadValue | undefined;
  /** Returns the reader of a field's value. `read` reads every value except `null`. */
  fieldReader(field: DescField, read: ReadInto): ReadInto;
  /** Returns a function that converts the bare text of a parameter in a path or a query to JSON. */
  bareText(field: DescField): (text: string) => JsonTree;
  /** Handles a member or a query parameter whose name is no field: adds a violation or does nothing. */
  unknownName(violations: Violations, parent: FieldPath | undefined, name: string): void;
  /** Whether a list or map with the google.api.field_behavior REQUIRED must be present. */
  readonly requiresCollections: boolean;
  /** Writes a Timestamp as JSON. Throws if it is not a valid one. */
  writeTimestamp(value: Timestamp): string;
}
