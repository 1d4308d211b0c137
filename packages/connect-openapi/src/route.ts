import type { DescField, DescMethod } from "@bufbuild/protobuf";

/** The pattern of one path segment: a decoded text, any one segment (`*`), or zero or more segments (`**`). */
export type RouteSegment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "single" }
  | { readonly kind: "rest" };

/**
 * A path variable and its segments: from `start` to `end`, not including `end`. With `**`, `end` is undefined and the
 * variable takes all remaining segments.
 */
export interface RouteVariable {
  /** The path of fields from the request message to the field that receives the value. */
  readonly fields: readonly DescField[];
  readonly start: number;
  readonly end: number | undefined;
}

/** One HTTP binding of one method. The routes of `@cupo/connect-rest` have this shape. */
export interface OpenApiRoute {
  readonly method: DescMethod;
  /** In upper case. */
  readonly httpMethod: string;
  readonly template: { readonly segments: readonly RouteSegment[]; readonly verb: string | undefined };
  readonly variables: readonly RouteVariable[];
  /**
   * "none": no body; "message": the whole request except the fields of the path; else the one field that is the body.
   */
  readonly body: "none" | "message" | DescField;
  /** The field of the response message that is the answer; undefined for the whole message. */
  readonly responseBody: DescField | undefined;
}

/** Returns the name of a route in error messages: `GET /v1/books/{} (library.v1.LibraryService/GetBook)`. */
export function describeRoute({ httpMethod, template, method }: OpenApiRoute): string {
  const segments = template.segments.map((segment) => (segment.kind === "literal" ? segment.text : "{}"));
  const verb = template.verb === undefined ? "" : `:${template.verb}`;
  return `${httpMethod} /${segments.join("/")}${verb} (${method.parent.typeName}/${method.name})`;
}
