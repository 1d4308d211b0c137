import type {
  DescField,
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  Registry,
} from "@bufbuild/protobuf";
import { bindingsOfRule, defaultBinding, type HttpBinding, httpBindings } from "./http-rule.js";
import { checkTypes, isNested } from "./message-types.js";
import { type HttpRuleJson, type RulesBySelector, rulesBySelector, selectorOf } from "./outside-rules.js";
import { type PathTemplate, parsePathTemplate } from "./path-template.js";
import { type RouteProblem, routeProblem } from "./route-problem.js";

/** A method that REST can serve: one request, and one response or a stream of them. */
export type RestMethod = DescMethodUnary | DescMethodServerStreaming;

/** A path variable, and the field of the request message that receives its value. */
export interface BoundVariable {
  /** The path of fields from the request message to the field that receives the value. */
  readonly fields: readonly DescField[];
  readonly start: number;
  readonly end: number | undefined;
  readonly multiSegment: boolean;
}

/** One HTTP binding of one method, checked against the messages of the method. */
export interface Route {
  readonly method: RestMethod;
  /** The HTTP method, or "*" for every method. */
  readonly httpMethod: string;
  /** The path template, including the base path. */
  readonly template: PathTemplate;
  readonly variables: readonly BoundVariable[];
  /** The JSON paths of the fields that receive values from the path. */
  readonly pathFields: readonly string[];
  /**
   * "none": no body; "message": the body is the request message without the fields in the path; a field: the body is
   * its value.
   */
  readonly body: "none" | "message" | DescField;
  /** The field of the response message whose value is the response body; undefined if the body is the whole message. */
  readonly responseBody: DescField | undefined;
}

/** Options for finding the bindings of methods and for checking their types. */
export interface BindingOptions {
  /**
   * HTTP rules from outside the proto files, such as `http.rules` of a service configuration. A rule replaces the
   * google.api.http option of its method. Defaults to none.
   */
  readonly rules?: readonly HttpRuleJson[];
  /**
   * Whether a method without a rule has the binding `POST /package.Service/Method` with the body "*". Defaults to
   * false.
   */
  readonly defaultBindings?: boolean;
  /** The types that google.protobuf.Any may contain. Without a registry, only a raw google.api.HttpBody may use Any. */
  readonly registry?: Registry | undefined;
}

/**
 * Collects the routes of all methods that have a binding, in the order of the methods. An invalid binding has no route;
 * `report` receives its problem. Throws if `options.rules` are invalid.
 */
export function collectRoutes(
  basePath: string,
  methods: readonly DescMethod[],
  report: (problem: RouteProblem) => void,
  options: BindingOptions = {},
): Route[] {
  const routes: Route[] = [];
  const rules = rulesBySelector(options.rules ?? [], methods);
  for (const method of methods) {
    const attempt = (binding: string, make: () => void) => {
      try {
        make();
      } catch (error) {
        report(routeProblem(method, binding, error instanceof Error ? error.message : String(error)));
      }
    };
    attempt("", () => {
      for (const binding of bindingsOf(method, rules, options)) {
        const name = `${binding.httpMethod} ${binding.template}`;
        attempt(name, () => routes.push(createRoute(basePath, withOneRequest(method), binding, options.registry)));
      }
    });
  }
  return routes;
}

function bindingsOf(method: DescMethod, rules: RulesBySelector, { defaultBindings = false }: BindingOptions) {
  const rule = rules.get(selectorOf(method));
  const bindings = rule === undefined ? httpBindings(method) : bindingsOfRule(rule);
  return bindings.length === 0 && defaultBindings && hasOneRequest(method) ? [defaultBinding(method)] : bindings;
}

function hasOneRequest({ methodKind }: DescMethod): boolean {
  return methodKind === "unary" || methodKind === "server_streaming";
}

function withOneRequest(method: DescMethod): RestMethod {
  if (hasOneRequest(method)) return method as RestMethod;
  throw new Error(`a ${method.methodKind.replace("_", " ")} method has no REST form; its request is a stream`);
}

function createRoute(
  basePath: string,
  method: RestMethod,
  binding: HttpBinding,
  registry: Registry | undefined,
): Route {
  const httpMethod = checkHttpMethod(binding);
  const template = parsePathTemplate(underBasePath(basePath, parsePathTemplate(binding.template)));
  const variables = template.variables.map(({ fieldPath, ...segments }) => ({
    fields: resolveLeaf(method.input, fieldPath),
    ...segments,
  }));
  const pathFields = variables.map(({ fields }) => fields.map((field) => field.jsonName).join("."));
  const repeated = pathFields.find((name, index) => pathFields.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`the path has the field ${repeated} more than once`);
  const body = resolveBody(method.input, binding.body, pathFields);
  const responseBody = binding.responseBody === "" ? undefined : topLevelField(method.output, binding.responseBody);
  checkTypes({ method, body, responseBody }, registry);
  return { method, httpMethod, template, variables, pathFields, body, responseBody };
}

function underBasePath(basePath: string, { source, segments }: PathTemplate): string {
  return segments.length === 0 && basePath !== "" ? basePath : basePath + source;
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
