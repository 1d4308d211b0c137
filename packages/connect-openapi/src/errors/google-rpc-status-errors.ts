import type { JsonObject } from "@bufbuild/protobuf";
import { type DescribeErrors, sharedErrors } from "./describe-errors.js";

/** Describes errors in the form of Google's APIs (AIP-193), which `googleRpcStatus` of `@cupo/connect-rest` writes. */
export function googleRpcStatusErrors(): DescribeErrors {
  return () => sharedErrors("application/json", { ErrorStatus: errorStatus }, "ErrorStatus");
}

const detail: JsonObject = {
  type: "object",
  description: "A message of google.protobuf.Any, such as google.rpc.BadRequest.",
  properties: { "@type": { type: "string", description: "The URL of the message's type." } },
  required: ["@type"],
};

const errorStatus: JsonObject = {
  type: "object",
  description: "An error (AIP-193).",
  properties: {
    error: {
      type: "object",
      description: "What failed.",
      properties: {
        code: { type: "integer", description: "The HTTP status." },
        message: { type: "string", description: "A sentence for people about this error." },
        status: { type: "string", description: "The name of the code in google.rpc.Code, such as `NOT_FOUND`." },
        details: { type: "array", items: detail, description: "Details of the error." },
      },
      required: ["code", "message", "status"],
    },
  },
  required: ["error"],
};
