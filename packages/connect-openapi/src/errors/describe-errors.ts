import type { JsonObject } from "@bufbuild/protobuf";
import type { Components } from "../components.js";
import type { OpenApiRoute } from "../route.js";
import type { Refer } from "../schemas/schema-options.js";

/** The error responses of a document's routes. */
export interface ErrorDescriptions<R extends OpenApiRoute = OpenApiRoute> {
  /** Returns the error responses of a route by HTTP status. The key "default" stands for all other statuses. */
  responses(route: R): JsonObject;
  /** The components that the error responses refer to. */
  readonly components?: Components;
}

/**
 * Returns the error responses of a document. Called once, before the operations are described. `refer` adds the schema
 * of a message to the document and returns a reference to that schema.
 */
export type DescribeErrors<R extends OpenApiRoute = OpenApiRoute> = (refer: Refer) => ErrorDescriptions<R>;

/**
 * Returns error responses that are the same for every route: 400, and `default` for all other statuses. Both have the
 * schema named `errorName`, which `schemas` must contain.
 */
export function sharedErrors(mediaType: string, schemas: JsonObject, errorName: string): ErrorDescriptions {
  const content = { [mediaType]: { schema: { $ref: `#/components/schemas/${errorName}` } } };
  const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    responses: () => ({ 400: reference("InvalidRequest"), default: reference("OtherError") }),
    components: {
      responses: {
        InvalidRequest: { description: "The request cannot be read, or it violates the contract.", content },
        OtherError: { description: "Any other error.", content },
      },
      schemas,
    },
  };
}
