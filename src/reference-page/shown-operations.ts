import type { JsonValue } from "@bufbuild/protobuf";
import {
  type ApiDocument,
  type Example,
  type Operation,
  type Parameter,
  type PathItem,
  resolve,
  type Schema,
  type Server,
} from "./api-document.js";

/** An operation as the page shows it. References to parameters are resolved. */
export interface ShownOperation {
  readonly id: string;
  readonly tag: string;
  /** The HTTP method in upper case. */
  readonly method: string;
  /** The path on the listener, with parameters in braces. */
  readonly url: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
  /** The schema of the request body. */
  readonly body: Schema | undefined;
  /** Examples of the request body, the most useful one first. */
  readonly examples: readonly Example[];
  /** Whether the answer is a stream that stays open. */
  readonly isStream: boolean;
}

/** Returns the operations of a document, in the order of the document. */
export function shownOperations(document: ApiDocument): ShownOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) => {
    const prefix = prefixOf(item.servers ?? document.servers);
    return operationsOf(item).map(([method, operation]) => shown(document, method, prefix + path, operation));
  });
}

/**
 * Returns the example of a parameter as text: its own `example`, or that of its schema if this is a string. Otherwise
 * returns undefined.
 */
export function exampleText({ example, schema }: Parameter): string | undefined {
  const value: JsonValue | undefined = example ?? (typeof schema.example === "string" ? schema.example : undefined);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shown(document: ApiDocument, method: string, url: string, operation: Operation): ShownOperation {
  const body = Object.values(operation.requestBody?.content ?? {})[0];
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"))?.[1];
  const contentTypes = Object.keys((success && resolve(document, success).content) ?? {});
  return {
    id: operation.operationId,
    tag: operation.tags[0],
    method: method.toUpperCase(),
    url,
    operation,
    parameters: (operation.parameters ?? []).map((parameter) => resolve(document, parameter)),
    body: body?.schema,
    examples: Object.values(body?.examples ?? {}),
    isStream: contentTypes.includes("text/event-stream"),
  };
}

function operationsOf(item: PathItem): [string, Operation][] {
  return Object.entries(item).flatMap(([name, value]) => ("operationId" in value ? [[name, value]] : []));
}

function prefixOf([server]: readonly Server[]): string {
  return server === undefined ? "" : server.url.replace(/\/$/, "");
}
