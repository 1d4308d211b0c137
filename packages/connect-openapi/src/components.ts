import type { JsonObject } from "@bufbuild/protobuf";

/** The `components` object of OpenAPI. Each property holds the components of one kind by their names. */
export interface Components {
  readonly securitySchemes?: JsonObject;
  readonly parameters?: JsonObject;
  readonly headers?: JsonObject;
  readonly responses?: JsonObject;
  readonly schemas?: JsonObject;
  readonly [kind: string]: JsonObject | undefined;
}
