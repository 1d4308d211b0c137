import type { ContextValues } from "@connectrpc/connect";
import type { RestHandler } from "../handler.js";
import type { RestRequest } from "../rest-message.js";
import { cutResponse } from "./cut-response.js";
import { goneSignal } from "./gone-signal.js";
import type { NodeResponse } from "./node-response.js";
import { isAbandoned, type NodeRequest, readBody } from "./read-body.js";
import { sendResponse } from "./send-response.js";

/** The functions that an adapter provides for a request. */
export interface Serving {
  /** Returns the context values of the request, or undefined for new values. */
  openValues(): ContextValues | undefined;
  onFailure(error: unknown): void;
}

/** Answers one request of Node's servers by a REST handler. Rejects only if `onFailure` throws. */
export async function serveRequest(
  rest: RestHandler,
  request: NodeRequest,
  response: NodeResponse,
  { openValues, onFailure }: Serving,
): Promise<void> {
  try {
    const answer = await rest.handle(restRequestOf(request, response, openValues()));
    if (answer !== undefined) await sendResponse(request, response, answer, rest.maxBodyBytes);
  } catch (error) {
    await sendLastResort(rest, request, response);
    onFailure(error);
  }
}

function restRequestOf(request: NodeRequest, response: NodeResponse, values: ContextValues | undefined): RestRequest {
  const signal = goneSignal(request, response);
  return {
    method: request.method ?? "",
    url: request.url ?? "",
    rawHeaders: request.rawHeaders,
    signal,
    ...(values === undefined ? {} : { contextValues: values }),
    readBody: (maxBytes) => readBody(request, maxBytes),
    isGone: () => signal.aborted || isAbandoned(request),
  };
}

async function sendLastResort(
  { lastResort, maxBodyBytes }: RestHandler,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  if (response.headersSent) return;
  try {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    await sendResponse(request, response, lastResort, maxBodyBytes);
  } catch {
    cutResponse(response);
  }
}
