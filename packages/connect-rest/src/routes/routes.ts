import type { DescField, DescMessage, DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { type HttpBinding, httpBindings } from "./http-rule.js";
import { checkTypes, isNested } from "./message-types.js";
import { type PathTemplate, parsePathTemplate } from "./path-template.js";

/** A path variable bound to a leaf of the request message. */
export interface BoundVariable {
  /** The path of fields from the request message to the leaf. */
  readonly fields: readonly DescField[];
  readonly start: number;
  readonly end: number | undefined;
  readonly multiSegment: boolean;
}

/** One binding of one method, checked against its messages. */
export interface Route {
  readonly method: DescMethodUnary;
  /** The HTTP method, or "*" for every method. */
  readonly httpMethod: string;
  /** Including the base path. */
  readonly template: PathTemplate;
  readonly variables: readonly BoundVariable[];
  /** The JSON paths of the fields that are read from the path. */
  readonly pathFields: readonly string[];
  /**
   * "none": no body; "message": the whole request except the fields of the path; else the one field that is the body.
   */
  readonly body: "none" | "message" | DescField;
  /** The field of the response message that is the answer; undefined for the whole message. */
  readonly responseBody: DescField | undefined;
}

/**
 * Collects the routes of all methods that have a binding, in the order of the methods. An invalid binding has no route
 * and adds a line to `problems`.
 */
export function collectRoutes(basePath: string, methods: readonly DescMethod[], problems: string[]): Route[] {
  const routes: Route[] = [];
  for (const method of methods) {
    const attempt = (make: () => void) => {
      try {
        make();
      } catch (error) {
        problems.push(
          `${method.parent.typeName}/${method.name}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    };
    attempt(() => {
      for (const binding of httpBindings(method)) {
        attempt(() => routes.push(createRoute(basePath, unary(method), binding)));
      }
    });
  }
  return routes;
}

function unary(method: DescMethod): DescMethodUnary {
  if (method.methodKind === "unary") return method as DescMethodUnary;
  throw new Error(`a ${method.methodKind.replace("_", " ")} method has no REST form; only unary methods do`);
}

function createRoute(basePath: string, method: DescMethodUnary, binding: HttpBinding): Route {
  const httpMethod = checkHttpMethod(binding);
  const template = parsePathTemplate(basePath + parsePathTemplate(binding.template).source);
  const variables = template.variables.map(({ fieldPath, ...segments }) => ({
    fields: resolveLeaf(method.input, fieldPath),
    ...segments,
  }));
  const pathFields = variables.map(({ fields }) => fields.map((field) => field.jsonName).join("."));
  const repeated = pathFields.find((name, index) => pathFields.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`the path has the field ${repeated} more than once`);
  const body = resolveBody(method.input, binding.body, pathFields);
  checkTypes(method, body);
  const responseBody = binding.responseBody === "" ? undefined : topLevelField(method.output, binding.responseBody);
  return { method, httpMethod, template, variables, pathFields, body, responseBody };
}

function checkHttpMethod({ httpMethod, body }: HttpBinding): string {
  if (httpMethod === "") throw new Error("the http rule has no pattern");
  if (!/^(?:\*|[A-Z][A-Z-]*)$/.test(httpMethod)) throw new Error(`"${httpMethod}" is not an HTTP method`);
  if (body !== "" && (httpMethod === "GET" || httpMethod === "HEAD")) {
    throw new Error(`a ${httpMethod} binding cannot have a body`);
  }
  return httpMethod;
}

function resolveLeaf(schema: DescMessage, path: readonly string[]): DescField[] {
  const fields: DescField[] = [];
  let parent: DescMessage | undefined = schema;
  for (const name of path) {
    if (parent === undefined)
      throw new Error(
        `the path field ${path.join(".")} passes through a field that is not a singular message with members`,
      );
    const field: DescField = topLevelField(parent, name);
    fields.push(field);
    parent = isNested(field) ? field.message : undefined;
  }
  const leaf = fields.at(-1);
  if (leaf?.fieldKind !== "scalar" && leaf?.fieldKind !== "enum") {
    throw new Error(`the path field ${path.join(".")} must be one scalar or enum value`);
  }
  return fields;
}

function resolveBody(schema: DescMessage, body: string, pathFields: readonly string[]): Route["body"] {
  if (body === "") return "none";
  if (body === "*") return "message";
  const field = topLevelField(schema, body);
  if (pathFields.includes(field.jsonName)) throw new Error(`the field ${body} is in the path and in the body`);
  return field;
}

function topLevelField(schema: DescMessage, name: string): DescField {
  const field = schema.fields.find((candidate) => candidate.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field "${name}"`);
  return field;
}
