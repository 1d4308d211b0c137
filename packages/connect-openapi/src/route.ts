import type { DescField, DescMethod } from "@bufbuild/protobuf";

/** One item of a path template: a decoded literal text, any one segment (`*`), or zero or more segments (`**`). */
export type RouteSegment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "single" }
  | { readonly kind: "rest" };

/**
 * A path variable. It has the template's segments from index `start` to index `end`, not including `end`. If its
 * pattern ends with `**`, `end` is undefined and the variable takes all remaining segments.
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
  /** The HTTP method in upper case. */
  readonly httpMethod: string;
  readonly template: { readonly segments: readonly RouteSegment[]; readonly verb: string | undefined };
  readonly variables: readonly RouteVariable[];
  /**
   * "none": no body; "message": the body is the request message without the fields in the path; a field: the body is
   * its value.
   */
  readonly body: "none" | "message" | DescField;
  /** The field of the response message whose value is the response body; undefined if the body is the whole message. */
  readonly responseBody: DescField | undefined;
}

/** Returns the name of a route for error messages: `GET /v1/books/{} (library.v1.LibraryService/GetBook)`. */
export function describeRoute({ httpMethod, template, method }: OpenApiRoute): string {
  const segments = template.segments.map((segment) => (segment.kind === "literal" ? segment.text : "{}"));
  const verb = template.verb === undefined ? "" : `:${template.verb}`;
  return `${httpMethod} /${segments.join("/")}${verb} (${method.parent.typeName}/${method.name})`;
}
