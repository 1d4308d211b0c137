import { type DescService, getOption } from "@bufbuild/protobuf";
import { http as httpOption } from "../gen/google/api/annotations_pb.js";
import { operationName } from "../operation.js";

/** What is known of an operation ahead of all requests. */
export interface CatalogedOperation {
  /** The template of its path over REST, with the base path; undefined for one that REST does not have. */
  readonly route: string | undefined;
  /** Whether it answers by a stream. */
  readonly isStream: boolean;
}

/** The operations by name: what metrics and traces call a request by is from here, and never from the request. */
export type OperationCatalog = ReadonlyMap<string, CatalogedOperation>;

/** Lists the operations of services. */
export function catalogOf(services: readonly DescService[], basePath: string): OperationCatalog {
  const methods = services.flatMap((service) => service.methods);
  return new Map(
    methods.map((method) => {
      const { value: path } = getOption(method, httpOption).pattern;
      const route = typeof path === "string" ? `${basePath}${inJsonNames(path)}` : undefined;
      return [operationName(method), { route, isStream: method.methodKind !== "unary" }];
    }),
  );
}

/** The template with the names that its variables have everywhere but in the proto. */
function inJsonNames(template: string): string {
  return template.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
