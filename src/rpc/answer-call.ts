import type { ContextValues } from "@connectrpc/connect";
import type { NodeRequest } from "../rest/read-body.js";
import type { NodeResponse } from "../rest/send-response.js";
import type { Protocol } from "./incoming.js";

/** A call whose path, method and media type are those of an RPC, and of which nothing else was judged. */
export interface RpcCall {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
  readonly headers: Headers;
  readonly values: ContextValues;
  readonly protocol: Protocol;
  readonly isJson: boolean;
}

/** Answers the calls of one method. */
export type AnswerCall = (call: RpcCall) => Promise<void>;
