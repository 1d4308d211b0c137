import type { ContextValues } from "@connectrpc/connect";
import type { NodeRequest, NodeResponse } from "@cupo/connect-rest/node";
import type { ConnectQuery } from "./connect-query.js";
import type { Protocol } from "./incoming.js";

/** A call whose path, HTTP method and media type have been accepted. Nothing else of the call is checked yet. */
export interface RpcCall {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
  readonly headers: Headers;
  readonly values: ContextValues;
  readonly protocol: Protocol;
  readonly isJson: boolean;
  /** The parameters of a Connect call by GET; undefined for a call by POST. */
  readonly query?: ConnectQuery | undefined;
}

/** Answers the calls of one method. */
export type AnswerCall = (call: RpcCall) => Promise<void>;
