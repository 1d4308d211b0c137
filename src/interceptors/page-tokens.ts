import { clone, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { type Principal, principalOf } from "../call.js";
import { invalidPageToken } from "../errors.js";
import { operationName } from "../operation.js";
import type { Stage } from "./stage.js";

/**
 * Encrypts (`seal`) and decrypts (`open`) page tokens. `position` is the decrypted token: a text that says where the
 * next page begins. `holder` is a text that identifies the operation and the principal. `open` returns undefined if the
 * token was not encrypted for this holder.
 */
export interface PageSeal {
  seal(position: string, holder: string): Promise<string>;
  open(token: string, holder: string): Promise<string | undefined>;
}

const TOKEN = "pageToken";
const NEXT_TOKEN = "nextPageToken";

/**
 * Decrypts the page token of a request and encrypts the page token of the response. So implementations read and write
 * unencrypted tokens.
 *
 * A token is valid for the same operation and the same principal, with the same issuer, tenant, organization and
 * company. Throws 422 on the field pageToken for any other token (AIP-158). This stage runs inside the transaction, so
 * that an unavailable key store is handled like an unavailable database.
 */
export function pageTokens(seal: PageSeal): Stage {
  return (method) => {
    const { methodKind, input, output } = method;
    const hasPages = methodKind === "unary" && hasText(input, TOKEN) && hasText(output, NEXT_TOKEN);
    return hasPages ? sealing(method, seal) : undefined;
  };
}

function sealing(method: DescMethod, { seal, open }: PageSeal): Interceptor {
  const operation = operationName(method);
  return (next) => async (request) => {
    if (request.stream) throw new Error("a message was called by a stream");
    const holder = holderOf(operation, principalOf(request.contextValues));
    const token = textIn(request.message, TOKEN);
    const position = token === "" ? "" : await open(token, holder);
    if (position === undefined) throw invalidPageToken();
    const response = await next({ ...request, message: withText(method.input, request.message, TOKEN, position) });
    if (response.stream) throw new Error("a unary request was answered by a stream");
    const nextPosition = textIn(response.message, NEXT_TOKEN);
    if (nextPosition !== "") Reflect.set(response.message, NEXT_TOKEN, await seal(nextPosition, holder));
    return response;
  };
}

function holderOf(operation: string, { tenantId, organizationId = "", companyId = "", id }: Principal): string {
  return [operation, tenantId, organizationId, companyId, id].join(" ");
}

function hasText({ field }: DescMessage, name: string): boolean {
  return field[name]?.scalar !== undefined;
}

/** Returns the text of a field, or "" if the field is absent. */
function textIn(message: Message, name: string): string {
  const text: unknown = Reflect.get(message, name);
  return typeof text === "string" ? text : "";
}

/**
 * Returns a copy of the message whose field `name` is `text`; returns the message itself if `text` is empty. The
 * original must not change, because a repeated transaction reads it again.
 */
function withText(schema: DescMessage, message: Message, name: string, text: string): Message {
  if (text === "") return message;
  const copy = clone(schema, message);
  Reflect.set(copy, name, text);
  return copy;
}
