import { clone, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { type Principal, principalOf } from "../call.js";
import { invalidPageToken } from "../errors.js";
import { operationName } from "../operation.js";

/** What seals the places in which pages end: what is opened was sealed for the same holder, or is undefined. */
export interface PageSeal {
  seal(place: string, holder: string): Promise<string>;
  open(token: string, holder: string): Promise<string | undefined>;
}

const TOKEN = "pageToken";
const NEXT_TOKEN = "nextPageToken";

/**
 * Lets lists read and write places as they are, while callers see sealed tokens only: each serves the list that gave it,
 * for principals of the same tenant, organization and company, and anything else is 422 on pageToken (AIP-158). Stands
 * inside the transaction, so that a store of keys that is away is answered as any other.
 */
export function pageTokens({ seal, open }: PageSeal): Interceptor {
  return (next) => async (request) => {
    const { input, output } = request.method;
    if (request.stream || !hasText(input, TOKEN) || !hasText(output, NEXT_TOKEN)) return next(request);
    const holder = holderOf(operationName(request.method), principalOf(request.contextValues));
    const token = textIn(request.message, TOKEN);
    const place = token === "" ? "" : await open(token, holder);
    if (place === undefined) throw invalidPageToken();
    const response = await next({ ...request, message: withText(input, request.message, TOKEN, place) });
    if (response.stream) throw new Error("a unary request was answered by a stream");
    const nextPlace = textIn(response.message, NEXT_TOKEN);
    if (nextPlace !== "") Reflect.set(response.message, NEXT_TOKEN, await seal(nextPlace, holder));
    return response;
  };
}

function holderOf(operation: string, { tenantId, organizationId = "", companyId = "" }: Principal): string {
  return [operation, tenantId, organizationId, companyId].join(" ");
}

function hasText({ field }: DescMessage, name: string): boolean {
  return field[name]?.scalar !== undefined;
}

/** Empty where the field is absent. */
function textIn(message: Message, name: string): string {
  const text: unknown = Reflect.get(message, name);
  return typeof text === "string" ? text : "";
}

/** A copy, since what is read may be read again after a failure that passes. */
function withText(schema: DescMessage, message: Message, name: string, text: string): Message {
  if (text === "") return message;
  const copy = clone(schema, message);
  Reflect.set(copy, name, text);
  return copy;
}
