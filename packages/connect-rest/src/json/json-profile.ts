import type { DescEnum, DescField, DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Violations } from "../violations/collect-violations.js";
import type { FieldPath } from "../violations/field-path.js";
import type { Fields } from "./message-fields.js";
import type { JsonTree } from "./read-json.js";

/** Reads the JSON value `tree`. For an invalid value, adds a violation with the path `at` and returns undefined. */
export type ReadValue = (tree: JsonTree, at: FieldPath | undefined, violations: Violations) => unknown;

/** Reads a JSON value into the fields of a message. Fields that the JSON does not contain keep their values. */
export type ReadInto = (tree: JsonTree, into: Fields, at: FieldPath | undefined, violations: Violations) => void;

/** Reads a member name that is data, such as a map key. For an invalid name, adds a violation and returns undefined. */
export type ReadName = (name: string, at: FieldPath, violations: Violations) => string | undefined;

/**
 * The JSON dialect of a handler: the forms of values that it reads, and the form of Timestamps that it writes. A
 * profile provides the readers of single values. The readers of messages, lists and maps are the same in all profiles.
 */
export interface JsonProfile {
  /** Returns the member names that JSON may use for this field. The first is the JSON name. */
  memberNames(field: DescField): readonly string[];
  /** Returns the reader of a scalar type. With `longAsString` the reader returns 64-bit integers as text. */
  scalarReader(scalar: ScalarType, longAsString?: boolean): ReadValue;
  enumReader(schema: DescEnum): ReadValue;
  /**
   * Returns the reader of a message type with a special JSON form, such as Timestamp. The reader returns the value that
   * protobuf-es stores in a field of this type. Returns undefined for every other type, and also for
   * google.protobuf.Any and the wrapper types.
   */
  wellKnownReader(schema: DescMessage): ReadValue | undefined;
  /**
   * Returns the reader of a field's value: it handles `null` as the profile requires, and calls `read` for every other
   * value.
   */
  fieldReader(field: DescField, read: ReadInto): ReadInto;
  /** Returns a function that converts the text of a path or query parameter to JSON. */
  bareText(field: DescField): (text: string) => JsonTree;
  /** Handles a member or a query parameter whose name is no field: adds a violation or does nothing. */
  unknownName(violations: Violations, parent: FieldPath | undefined, name: string): void;
  /**
   * Whether a list or map with the google.api.field_behavior REQUIRED must be present. It may be absent from JSON that
   * changes only part of a resource.
   */
  readonly requiresCollections: boolean;
  /** Writes a Timestamp as JSON. Throws if the Timestamp is invalid. */
  writeTimestamp(value: Timestamp): string;
}
