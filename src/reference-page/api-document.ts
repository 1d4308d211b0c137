import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The parts of an OpenAPI 3.1 document that the reference page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers: readonly Server[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
}

export interface Server {
  readonly url: string;
}

/**
 * The operations of a path. The key of each operation is its HTTP method in lower case. `servers`, if present, replaces
 * the servers of the document.
 */
export type PathItem = Readonly<Record<string, Operation | readonly Server[]>> & {
  readonly servers?: readonly Server[];
};

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string, ...string[]];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** The method and the path of the same operation over Connect. */
  readonly "x-connect"?: string;
}

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: JsonValue;
}

export interface Response {
  readonly description: string;
  readonly content?: Content;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Example {
  readonly description?: string;
  readonly value: JsonValue;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly JsonValue[];
  readonly const?: JsonValue;
  readonly example?: JsonValue;
  readonly [keyword: string]: unknown;
}

/**
 * Returns `document` with the type {@link ApiDocument}. Throws a TypeError if the document has no paths. Checks nothing
 * else.
 */
export function apiDocument(document: JsonObject): ApiDocument {
  if (typeof document["paths"] !== "object") throw new TypeError("the OpenAPI document has no paths");
  return document as unknown as ApiDocument;
}

/**
 * Returns the component that a reference names; returns any other value unchanged. Throws if the component is missing.
 */
export function resolve<T extends object>(document: ApiDocument, value: T | Reference): T {
  if (!isReference(value)) return value;
  const found = value.$ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => Reflect.get(Object(at), key), document);
  if (found === undefined) throw new Error(`the OpenAPI document has no ${value.$ref}`);
  return found as T;
}

/** Returns the name of the schema that `$ref` refers to; undefined without `$ref`. */
export function schemaName({ $ref }: Schema): string | undefined {
  return $ref?.replace("#/components/schemas/", "");
}

function isReference(value: object): value is Reference {
  return "$ref" in value;
}
