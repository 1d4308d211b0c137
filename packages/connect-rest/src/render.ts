import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { fieldsOf, heldValue } from "./json/message-fields.js";
import { createFieldWriter, createMessageWriter, type WriteRules } from "./json/write-message.js";
import { isHttpBody } from "./routes/message-types.js";
import type { Route } from "./routes/routes.js";

/** The content of an answer. */
export interface Rendered {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** Renders the response messages of a route. */
export interface Render {
  /** Whether the answer is a google.api.HttpBody: raw bytes, not JSON. */
  readonly isRaw: boolean;
  /** Renders a message. Throws if the message cannot be written. */
  render(message: Message): Rendered;
}

const jsonType = "application/json";
const bytesType = "application/octet-stream";
const headerValue = /^[\x20-\x7e]*$/;

/**
 * Compiles the renderer of a route's answer. The answer is the response message as JSON, see
 * {@link createMessageWriter}. If the route has a response_body, the answer is only the value of that field, or null if
 * the field is not set.
 *
 * A google.api.HttpBody is not written as JSON. The body is its `data`, and the media type is its `content_type`, or
 * application/octet-stream if that is empty.
 */
export function createRender({ method, responseBody }: Route, rules: WriteRules = {}): Render {
  if (isHttpBody(responseBody === undefined ? method.output : singularMessage(responseBody))) {
    return { isRaw: true, render: (message) => renderHttpBody(message, responseBody) };
  }
  const write =
    responseBody === undefined ? createMessageWriter(method.output, rules) : createFieldWriter(responseBody, rules);
  return { isRaw: false, render: (message) => ({ contentType: jsonType, body: write(message) }) };
}

function singularMessage(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" ? field.message : undefined;
}

function renderHttpBody(message: Message, field: DescField | undefined): Rendered {
  const fields = fieldsOf(message);
  const body = (field === undefined ? fields : heldValue(fields, field)) as Partial<HttpBody> | undefined;
  const { contentType = "", data = new Uint8Array() } = body ?? {};
  if (!headerValue.test(contentType)) throw new Error("the content_type of a google.api.HttpBody is no media type");
  return { contentType: contentType === "" ? bytesType : contentType, body: data };
}

/** The fields of google.api.HttpBody that are sent over HTTP. */
interface HttpBody {
  readonly contentType: string;
  readonly data: Uint8Array;
}
