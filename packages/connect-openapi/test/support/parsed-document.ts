import type { JsonObject } from "@bufbuild/protobuf";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { type OpenApiOptions, type OpenApiRoute, openApiDocument } from "../../src/index.js";
import type { ObjectSchema } from "./schemas-of.js";

/** The members of a document that tests look at. */
export interface ParsedDocument {
  readonly openapi: string;
  readonly servers: readonly JsonObject[];
  readonly security?: readonly JsonObject[];
  readonly tags?: readonly JsonObject[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ParsedOperation>>>>;
  readonly components: Readonly<Record<string, JsonObject>> & {
    readonly schemas: Readonly<Record<string, ObjectSchema>>;
  };
}

/** An operation of a document. */
export interface ParsedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly JsonObject[];
  readonly parameters?: readonly (JsonObject & { readonly name: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, JsonObject>> };
  readonly responses: Readonly<Record<string, JsonObject>>;
}

/** The information about every document of the tests. */
export const info = { title: "Museum", version: "1.0.0", license: { name: "MIT", identifier: "MIT" } };

/** Describes routes as a document. */
export function documentOf<R extends OpenApiRoute>(
  routes: readonly R[],
  options: Partial<OpenApiOptions<R>> = {},
): ParsedDocument {
  return openApiDocument({ info, ...options, routes }) as unknown as ParsedDocument;
}

/** Returns the rule, message and location of each violation of Redocly's recommended rules. */
export async function lint(document: ParsedDocument): Promise<unknown[][]> {
  const config = await createConfig({ extends: ["recommended"] });
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
}
