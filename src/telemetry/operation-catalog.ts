import type { DescService } from "@bufbuild/protobuf";
import { CLINIC_BASE_PATH, isPublished, operationName } from "../operation.js";
import { httpRuleOf } from "../proto-options.js";

/** The static properties of an operation. */
export interface CatalogedOperation {
  /** The REST path template with its base path; undefined for an operation without REST. */
  readonly route: string | undefined;
  readonly isStream: boolean;
}

/** The operations by name. Metrics and traces take operation names only from this catalog, never from the request. */
export type OperationCatalog = ReadonlyMap<string, CatalogedOperation>;

/**
 * Returns the catalog of the services' operations. `basePath` is the base path of the operations outside the clinic
 * API.
 */
export function catalogOf(services: readonly DescService[], basePath: string): OperationCatalog {
  const methods = services.flatMap((service) => service.methods);
  return new Map(
    methods.map((method) => {
      const { value: path } = httpRuleOf(method).pattern;
      const prefix = isPublished(method.parent) ? basePath : CLINIC_BASE_PATH;
      const route = typeof path === "string" ? `${prefix}${inJsonNames(path)}` : undefined;
      return [operationName(method), { route, isStream: method.methodKind !== "unary" }];
    }),
  );
}

/** Converts the variables of a REST path template from proto names to JSON names. */
function inJsonNames(template: string): string {
  return template.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
