import { childFields, type Fields } from "./json/message-fields.js";
import { contentTypeOf } from "./media-type.js";
import type { RestRequest } from "./rest-message.js";
import { isHttpBody } from "./routes/message-types.js";
import type { Route } from "./routes/routes.js";

/** Reads the body of a request, as raw bytes, into the request message. */
export type ReadHttpBody = (http: RestRequest, request: Fields) => Promise<void>;

/**
 * Returns a function that reads a body of the type google.api.HttpBody; undefined for every other route. The function
 * stores the bytes in `data`, and the Content-Type of the request in `content_type` ("" if there is none). It rejects
 * with:
 * - UNSUPPORTED_MEDIA_TYPE for a second Content-Type, and for a Content-Encoding except identity
 * - TOO_LONG for more than `maxBodyBytes`
 */
export function httpBodyReader({ method, body }: Route, maxBodyBytes: number): ReadHttpBody | undefined {
  const field = typeof body === "string" || body.fieldKind !== "message" ? undefined : body;
  if (!isHttpBody(body === "message" ? method.input : field?.message)) return undefined;
  return async (http, request) => {
    const contentType = contentTypeOf(http.rawHeaders);
    const target = field === undefined ? request : childFields(request, field);
    target["contentType"] = contentType;
    target["data"] = await http.readBody(maxBodyBytes);
  };
}
