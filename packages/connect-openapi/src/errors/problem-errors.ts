import type { JsonObject } from "@bufbuild/protobuf";
import { type DescribeErrors, sharedErrors } from "./describe-errors.js";

/** Describes errors as Problem documents (RFC 9457), which `problemJson` of `@cupo/connect-rest` writes. */
export function problemErrors(): DescribeErrors {
  return () => sharedErrors("application/problem+json", { Problem: problem, Violation: violation }, "Problem");
}

const problem: JsonObject = {
  type: "object",
  description: "An error (RFC 9457).",
  properties: {
    type: { type: "string", format: "uri-reference", description: "The kind of the problem." },
    title: { type: "string", description: "The kind of the problem in words." },
    status: { type: "integer", description: "The HTTP status." },
    detail: { type: "string", description: "A sentence for people about this error." },
    code: { type: "string", description: "The name of the code in google.rpc.Code, such as `NOT_FOUND`." },
    reason: {
      type: "string",
      description: "Why the request was rejected before it reached the operation, such as `TOO_LONG`.",
    },
    details: {
      type: "array",
      items: { type: "object", required: ["@type"], properties: { "@type": { type: "string" } } },
      description: "Details of an error of the operation, as JSON of google.protobuf.Any.",
    },
    errors: {
      type: "array",
      items: { $ref: "#/components/schemas/Violation" },
      description: "Every violation in the request. Absent if there is none.",
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};

const violation: JsonObject = {
  type: "object",
  description: "One violation in a request.",
  properties: {
    field: {
      type: "string",
      description: "A path in the body such as `authors[0].name`, a parameter or a header; empty for the whole body.",
    },
    code: { type: "string", description: "The kind of the violation, such as `REQUIRED`." },
    message: { type: "string", description: "A sentence for people about this violation." },
  },
  required: ["field", "code", "message"],
};
