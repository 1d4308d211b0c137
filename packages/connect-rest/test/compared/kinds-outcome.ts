import { type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import type { RestHandlerOptions } from "../../src/handler.js";
import { type CallInit, call } from "../support/call-handler.js";
import { type MethodInit, makeService } from "../support/make-service.js";

/**
 * Sends a request to one method. Returns the message that the method got, as protobuf-es writes it; or the violations,
 * such as "INVALID_TYPE i32"; or the status of an error without any.
 */
export async function outcomeOf(
  binding: MethodInit,
  options: Partial<RestHandlerOptions>,
  method: string,
  url: string,
  init: CallInit = {},
): Promise<unknown> {
  const { service } = makeService(binding);
  let got: unknown;
  const implementations = service.methods.map(({ localName, input }) => [
    localName,
    (message: Message) => {
      got = toJson(input, message);
      return {};
    },
  ]);
  const services = [{ service, implementation: Object.fromEntries(implementations) as object }];
  const { status, text } = await call({ ...options, services }, method, url, init);
  if (status === 200) return got;
  const { errors } = JSON.parse(text) as JsonObject & { errors?: readonly { code: string; field: string }[] };
  return errors === undefined ? status : errors.map(({ code, field }) => `${code} ${field}`).join(", ");
}
