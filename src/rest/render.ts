import { type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { Route } from "./routes/routes.js";

/** Writes a response message as JSON text. */
export type Render = (message: Message) => string;

const writeOptions = { alwaysEmitImplicit: true } as const;

/**
 * Compiles the writer of a route's answer: ProtoJSON with fields of implicit presence always there, so that `false`, "" and
 * [] are said and not implied. With a response_body it is the value of that field alone, null where it is not set.
 */
export function createRender({ method, responseBody }: Route): Render {
  const schema = method.output;
  if (responseBody === undefined) return (message) => JSON.stringify(toJson(schema, message, writeOptions));
  if (responseBody.fieldKind !== "message") {
    const { jsonName } = responseBody;
    return (message) => JSON.stringify((toJson(schema, message, writeOptions) as JsonObject)[jsonName] ?? null);
  }
  return (message) => {
    const response = reflect(schema, message);
    if (!response.isSet(responseBody)) return "null";
    return JSON.stringify(toJson(responseBody.message, response.get(responseBody).message, writeOptions));
  };
}
