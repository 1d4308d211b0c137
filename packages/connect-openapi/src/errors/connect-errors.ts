import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { type DescribeErrors, sharedErrors } from "./describe-errors.js";

/** The documentation of the details in an application's Connect errors. */
export interface ConnectErrorDetails {
  /** The description of the member `details` in the schema of an error. Defaults to "Details of the error." */
  readonly description?: string;
  /**
   * Schemas of the known messages in error details, or references to them, for the documentation. Defaults to none. A
   * detail may also be any other message.
   */
  readonly messages?: JsonObject[];
}

/** Describes errors as the Connect protocol returns them in JSON (connectrpc.com/docs/protocol, "Error end-stream"). */
export function connectErrors(details: ConnectErrorDetails = {}): DescribeErrors {
  return () => sharedErrors("application/json", { ConnectError: connectErrorSchema(details) }, "ConnectError");
}

/** Returns the JSON schema of a Connect error, for use in another {@link DescribeErrors}. */
export function connectErrorSchema({
  description = "Details of the error.",
  messages = [],
}: ConnectErrorDetails = {}): JsonObject {
  const debug = messages.length === 0 ? { type: "object" } : { anyOf: [...messages, { type: "object" }] };
  return {
    type: "object",
    description: "An error of Connect.",
    properties: {
      code: { type: "string", description: "The class of the error.", enum: codeNames() },
      message: { type: "string", description: "A sentence for people about this error." },
      details: {
        type: "array",
        description,
        items: {
          type: "object",
          properties: {
            type: { type: "string", description: "The full name of the message type." },
            value: { type: "string", description: "The message in protobuf's binary form, in base64 without padding." },
            debug: { description: "The same message as JSON.", ...debug },
          },
          required: ["type", "value"],
        },
      },
    },
    required: ["code"],
  };
}

/** Returns the names of all Connect codes in the spelling of the protocol, such as `not_found`. */
function codeNames(): string[] {
  const names = Object.values(Code).filter((name) => typeof name === "string");
  return names.map((name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
}
