import type { ContextValues } from "@connectrpc/connect";
import type { NodeRequest, NodeResponse } from "@cupo/connect-rest/node";
import type { Protocol } from "./incoming.js";

/** A call whose path, HTTP method and media type have been accepted. Nothing else of it is checked yet. */
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
