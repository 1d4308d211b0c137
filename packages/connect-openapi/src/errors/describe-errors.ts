import type { JsonObject } from "@bufbuild/protobuf";
import type { Components } from "../components.js";
import type { OpenApiRoute } from "../route.js";
import type { Refer } from "../schemas/schema-options.js";

/** The errors of a document. */
export interface ErrorDescriptions<R extends OpenApiRoute = OpenApiRoute> {
  /** Returns the error responses of a route by status; "default" is every other status. */
  responses(route: R): JsonObject;
  /** The components that these responses refer to. */
  readonly components?: Components;
}

/** Describes errors. It is called before the operations are described. `refer` adds schemas of messages. */
export type DescribeErrors<R extends OpenApiRoute = OpenApiRoute> = (refer: Refer) => ErrorDescriptions<R>;

/** Returns the same two responses for every route: 400, and `default` for every other error. */
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
