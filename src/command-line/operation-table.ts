import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { httpBindings, listViolations } from "@cupo/connect-rest";
import { createChain } from "../interceptors/chain.js";
import { stageNames } from "../interceptors/stage.js";
import { messageValidatorOf } from "../interceptors/validation/validate-message.js";
import { operationName, operationOf } from "../operation.js";

/**
 * The REST paths of an operation, its scope, and the names of the interceptors that its calls pass, outermost first.
 * The name "message" stands for reading the request message.
 */
export interface OperationRow {
  readonly operation: string;
  /** HTTP method and path below the base path, with one item for each REST binding. */
  readonly rest: readonly string[];
  readonly scope: string;
  readonly stages: readonly string[];
}

/** Describes the operations of services in the order of the protos. Runs no operation. */
export function describeOperations(services: readonly DescService[]): OperationRow[] {
  const { onHeaders, onMessage } = chainWithoutPorts();
  return services
    .flatMap(({ methods }) => methods)
    .map((method) => ({
      operation: operationName(method),
      rest: restPaths(method),
      scope: operationOf(method).scope,
      stages: [...stageNames(onHeaders, method), "message", ...stageNames(onMessage, method)],
    }));
}

/** Formats operations as a Markdown table. */
export function tableOfOperations(rows: readonly OperationRow[]): string {
  const lines = rows.map(
    ({ operation, rest, scope, stages }) =>
      `| ${operation} | ${rest.join(", ") || "–"} | ${scope} | ${stages.join(" → ")} |`,
  );
  return ["| operation | REST | scope | stages |", "|---|---|---|---|", ...lines, ""].join("\n");
}

function restPaths(method: DescMethod): string[] {
  return httpBindings(method).map(({ httpMethod, template }) => `${httpMethod} ${template}`);
}

/**
 * Creates the interceptor chain only to describe it. The functions in the options below are never called, because only
 * the proto of a method decides which interceptors the method has.
 */
function chainWithoutPorts() {
  const unused = () => Promise.reject(new Error("the operations are only described"));
  const limiter = { acquire: unused, rejectionFor: () => undefined };
  return createChain({
    verifyToken: unused,
    rateLimiter: { count: unused },
    validate: messageValidatorOf,
    listErrors: listViolations,
    calls: limiter,
    streams: limiter,
    paceRejection: unused,
    stopping: new AbortController().signal,
    store: { execute: unused, read: unused },
    recordAccess: async () => undefined,
    resultSeal: { seal: (result) => result, open: unused },
    pages: { seal: unused, open: unused },
  });
}
