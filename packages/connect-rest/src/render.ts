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
  /** Whether the content is that of a google.api.HttpBody and not JSON. */
  readonly isRaw: boolean;
  /** Renders a message. Throws for a message that cannot be written. */
  render(message: Message): Rendered;
}

const jsonType = "application/json";
const bytesType = "application/octet-stream";
const headerValue = /^[\x20-\x7e]*$/;

/**
 * Compiles the renderer of a route's answer. The answer is the response message as JSON, see {@link
 * createMessageWriter}. For a route with a response_body it is only the value of that field, null when the field is not
 * set.
 *
 * A google.api.HttpBody is not written as JSON: its data are the content. Its `content_type` is the media type,
 * application/octet-stream if there is none.
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

/** The fields of google.api.HttpBody that HTTP has. */
interface HttpBody {
  readonly contentType: string;
  readonly data: Uint8Array;
}
