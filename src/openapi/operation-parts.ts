import type { DescMethod } from "@bufbuild/protobuf";
import type { OperationDefaults, OperationParts } from "@cupo/connect-openapi";
import { operationOf, takesIdempotencyKey } from "../operation.js";
import { documentExamples } from "./document-examples.js";
import { security } from "./document-parts.js";
import { errorCodesOf } from "./error-codes.js";
import type { RequestExamples } from "./examples/request-example.js";
import { headersOf } from "./header-components.js";
import { operationDescription } from "./operation-text.js";

/** What both documents show of an operation. */
export interface ShownOperation {
  readonly method: DescMethod;
  /** Whether an absent member of the body leaves its attribute unchanged. */
  readonly isPartial: boolean;
  readonly examples: RequestExamples;
}

/** Returns what the protos' own options and the examples add to an operation of either document. */
export function operationParts(
  { method, isPartial, examples }: ShownOperation,
  { summary, description: comment = "" }: OperationDefaults,
): OperationParts {
  const { scope, preview } = operationOf(method);
  const replayed = takesIdempotencyKey(method) ? (["Idempotent-Replayed"] as const) : [];
  return {
    summary: preview ? `Preview: ${summary}` : summary,
    description: operationDescription(method, { comment, isPartial }),
    ...(preview ? { "x-preview": true } : {}),
    "x-error-codes": errorCodesOf(method),
    security: security(scope),
    examples: documentExamples(method, examples) ?? {},
    responseHeaders: headersOf(["X-Correlation-Id", ...replayed, "RateLimit-Policy", "RateLimit"]),
  };
}
