import type { DescMethod } from "@bufbuild/protobuf";
import type { OperationDefaults, OperationParts } from "@cupo/connect-openapi";
import { operationOf, takesIdempotencyKey } from "../operation.js";
import { type AnswerMembers, documentExamples, exampleNote } from "./document-examples.js";
import { security } from "./document-parts.js";
import { errorCodesOf } from "./error-codes.js";
import type { RequestExamples } from "./examples/request-example.js";
import { headersOf } from "./header-components.js";
import { operationDescription } from "./operation-text.js";

/** A method and its examples, for {@link operationParts}. */
export interface ShownOperation {
  readonly method: DescMethod;
  /** Whether an absent member of the body leaves its attribute unchanged. */
  readonly isPartial: boolean;
  readonly examples: RequestExamples;
  /**
   * Over REST, the body of an answer can be one member of the response message. `members` names this member for each
   * such method, for example `appointment`. Examples then name a value as `appointmentId`, not as
   * `appointment.appointmentId`. Defaults to no methods.
   */
  readonly members?: AnswerMembers;
  /**
   * Whether the request has a body. OpenAPI can show an example only in a body. If this is false, the description of
   * the first example is added to the description of the operation instead. Defaults to true.
   */
  readonly hasBody?: boolean;
}

/** Returns the parts of an OpenAPI operation that come from Cupo's proto options and from the examples. */
export function operationParts(
  { method, isPartial, examples, members = new Map(), hasBody = true }: ShownOperation,
  { summary, description: comment = "" }: OperationDefaults,
): OperationParts {
  const { scope, preview } = operationOf(method);
  const note = hasBody ? undefined : exampleNote(method, examples, members);
  const notes = note === undefined ? [] : [`**Example**: ${note}`];
  const replayed = takesIdempotencyKey(method) ? (["Idempotent-Replayed"] as const) : [];
  return {
    summary: preview ? `Preview: ${summary}` : summary,
    description: [operationDescription(method, { comment, isPartial }), ...notes].join("\n\n"),
    ...(preview ? { "x-preview": true } : {}),
    "x-error-codes": errorCodesOf(method),
    security: security(scope),
    examples: documentExamples(method, examples, members) ?? {},
    responseHeaders: headersOf(["X-Correlation-Id", ...replayed, "RateLimit-Policy", "RateLimit"]),
  };
}
