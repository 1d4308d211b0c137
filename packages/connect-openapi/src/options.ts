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
 * Parts that the caller adds to an operation. Members of OpenAPI's operation object replace the generated ones, except
 * where a comment says otherwise.
 */
export interface OperationParts {
  /** Defaults to the method's name in lowerCamelCase, made unique. */
  readonly operationId?: string;
  /** Defaults to the name of the service. */
  readonly tags?: string[];
  /** Defaults to the name of the method in words: "Create book". */
  readonly summary?: string;
  /** Defaults to the comment of the method. */
  readonly description?: string;
  readonly security?: JsonObject[];
  /** Parameters after those of the path and the query, such as headers. */
  readonly parameters?: JsonObject[];
  /** Examples of requests by name. Each is divided among path, query and body; parameters show the first one. */
  readonly examples?: Readonly<Record<string, RequestExample>>;
  /** The HTTP status of the answer. Defaults to 200. */
  readonly successStatus?: number;
  /** Headers of the answer by name. */
  readonly responseHeaders?: JsonObject;
  /** Responses by status. They replace the generated ones with the same status. */
  readonly responses?: JsonObject;
  readonly externalDocs?: JsonObject;
  readonly deprecated?: boolean;
  readonly servers?: JsonObject[];
  readonly callbacks?: JsonObject;
  readonly [extension: `x-${string}`]: JsonValue;
}

/** The generated texts of an operation, for the caller's own texts. */
export interface OperationDefaults {
  /** The name of the method in words: "Create book". */
  readonly summary: string;
  /** The comment of the method as CommonMark, or undefined for none. */
  readonly description: string | undefined;
  readonly refer: Refer;
}

/** The input of a document. Everything except `routes` and `info` has a default. */
export interface OpenApiOptions<R extends OpenApiRoute = OpenApiRoute> extends SchemaOptions {
  /** The operations: `restRoutes()` of `@cupo/connect-rest`, or the result of `connectRoutes`. */
  readonly routes: readonly R[];
  readonly info: DocumentInfo;
  /**
   * Literal segments with which every route begins. They are in the server's URL and not in the paths. Defaults to "".
   */
  readonly basePath?: string;
  /** Defaults to `basePath` at the origin of the document. */
  readonly servers?: JsonObject[];
  /** Defaults to `[]` (no requirement) unless an operation has its own. */
  readonly security?: JsonObject[];
  /** Returns the parts that the caller adds to the operation of a route. */
  readonly operation?: (route: NoInfer<R>, defaults: OperationDefaults) => OperationParts;
  /** Describes the errors of operations. Defaults to `problemErrors()`. */
  readonly errors?: DescribeErrors<NoInfer<R>>;
  /** Further components. A function is called after all operations are described. */
  readonly components?: Components | ((refer: Refer) => Components);
}
