import type { JsonObject } from "@bufbuild/protobuf";

/** The `components` object of OpenAPI: members by name for each kind. */
export interface Components {
  readonly securitySchemes?: JsonObject;
  readonly parameters?: JsonObject;
  readonly headers?: JsonObject;
  readonly responses?: JsonObject;
  readonly schemas?: JsonObject;
  readonly [kind: string]: JsonObject | undefined;
}
