/**
 * A choice in which we differ from a project that we compare with. docs/compared.md has a row with the reason for each;
 * difference.test.ts checks that both lists agree.
 */
export type Difference =
  | "alternative-update-masks"
  | "bare-text-only"
  | "colon-in-literal"
  | "emitted-defaults"
  | "empty-body"
  | "enum-encoding"
  | "error-document"
  | "extensions"
  | "get-with-body"
  | "lower-case-enums"
  | "map-in-query"
  | "mask-in-snake-case"
  | "method-override"
  | "nested-bodies"
  | "nested-variables"
  | "null-names"
  | "path-without-slash"
  | "plus-in-query"
  | "reserved-characters"
  | "rest-in-the-middle"
  | "stream-array"
  | "strict-clients"
  | "trailing-slash"
  | "unknown-fields"
  | "utf-8-escapes"
  | "verb-without-segment";
