import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Components } from "./components.js";
import type { DescribeErrors } from "./errors/describe-errors.js";
import type { OpenApiRoute } from "./route.js";
import type { Refer, SchemaOptions } from "./schemas/schema-options.js";

/** The `info` object of OpenAPI. */
export interface DocumentInfo {
  title: string;
  version: string;
  [member: string]: JsonValue;
}

/** An example of a request. */
export interface RequestExample {
  readonly summary?: string;
  readonly description?: string;
  /** The whole request message in ProtoJSON, including the fields that are in the path or in the query. */
  readonly value: JsonObject;
}

/**
 * The parts of an OpenAPI operation that the option `operation` returns. A member replaces the generated member of the
 * same name, unless the comment of the member says otherwise.
 */
export interface OperationParts {
  /**
   * Defaults to the method's name in lowerCamelCase: `getBook`. If several services have a method of this name, the
   * name of the service comes first: `BookService_getBook`. If an earlier route has the same name, a number follows:
   * `getBook_2`.
   */
  readonly operationId?: string;
  /** Defaults to the name of the service, or to its full name if another service has the same name. */
  readonly tags?: string[];
  /** Defaults to the name of the method in words: "Create book". */
  readonly summary?: string;
  /** Defaults to the comment of the method. */
  readonly description?: string;
  readonly security?: JsonObject[];
  /** Additional parameters, such as headers. They follow the generated parameters of the path and the query. */
  readonly parameters?: JsonObject[];
  /**
   * Example requests by name. The request body shows all of them. The parameters of path and query show only the first.
   */
  readonly examples?: Readonly<Record<string, RequestExample>>;
  /** The HTTP status of the response to a request that succeeds. Defaults to 200. */
  readonly successStatus?: number;
  /** The headers, by name, of the response to a request that succeeds. */
  readonly responseHeaders?: JsonObject;
  /** Responses by HTTP status. A response replaces the generated response of the same status. */
  readonly responses?: JsonObject;
  readonly externalDocs?: JsonObject;
  readonly deprecated?: boolean;
  readonly servers?: JsonObject[];
  readonly callbacks?: JsonObject;
  readonly [extension: `x-${string}`]: JsonValue;
}

/**
 * The generated texts of an operation, which the option `operation` can use in its own texts. `refer` returns a
 * reference to the schema of a message.
 */
export interface OperationDefaults {
  /** The name of the method in words: "Create book". */
  readonly summary: string;
  /** The comment of the method as CommonMark, or undefined for none. */
  readonly description: string | undefined;
  readonly refer: Refer;
}

/** The options of an OpenAPI document. All except `routes` and `info` have a default. */
export interface OpenApiOptions<R extends OpenApiRoute = OpenApiRoute> extends SchemaOptions {
  /** The routes to describe, such as the result of `restRoutes()` of `@cupo/connect-rest`, or of `connectRoutes()`. */
  readonly routes: readonly R[];
  readonly info: DocumentInfo;
  /**
   * The literal segments at the start of every route, such as "/api/v1". The paths of the document do not contain them,
   * so the URLs in `servers` must end with them. Defaults to "".
   */
  readonly basePath?: string;
  /**
   * The `servers` of OpenAPI. Defaults to one server with the relative URL `basePath`, or "/" if `basePath` is empty.
   */
  readonly servers?: JsonObject[];
  /**
   * The `security` of the document. It applies to operations without their own `security`. The default depends on the
   * operations. If none has its own `security`, it is `[]`: no requirement. If any has, the document has no `security`.
   */
  readonly security?: JsonObject[];
  /** Returns the parts that replace or extend the generated operation of a route. */
  readonly operation?: (route: NoInfer<R>, defaults: OperationDefaults) => OperationParts;
  /** Describes the errors of operations. Defaults to `problemErrors()`. */
  readonly errors?: DescribeErrors<NoInfer<R>>;
  /**
   * Additional components, or a function that returns them. The function is called after all operations are described.
   */
  readonly components?: Components | ((refer: Refer) => Components);
}
