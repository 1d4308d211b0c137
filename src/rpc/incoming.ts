import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { NodeRequest } from "@cupo/connect-rest/node";
import type { ConnectQuery } from "./connect-query.js";

/** The protocols of an RPC. */
export type Protocol = "connect" | "grpc" | "grpc-web";

/** The unread message of a call, and properties of the call from its method, URL and headers. */
export interface Incoming {
  readonly node: NodeRequest;
  readonly protocol: Protocol;
  /** Whether the message is ProtoJSON. Otherwise it is in protobuf's binary form. */
  readonly isJson: boolean;
  /** Whether the answer is a stream. Connect then uses envelopes for messages; gRPC always does. */
  readonly isStream: boolean;
  /** The parameters of a Connect call by GET. They contain the message. Undefined if the body contains the message. */
  readonly query?: ConnectQuery | undefined;
  /** The name of the time limit header if its value is invalid; otherwise undefined. */
  readonly badTimeLimit?: string | undefined;
}

const incomingKey = createContextKey<Incoming | undefined>(undefined, { description: "rpc.incoming" });

/** Stores the unread message for {@link incomingOf}. */
export function setIncoming(values: ContextValues, incoming: Incoming): void {
  values.set(incomingKey, incoming);
}

/** Returns the unread message of these context values. Throws when an interceptor replaced the values. */
export function incomingOf(values: ContextValues): Incoming {
  const incoming = values.get(incomingKey);
  if (incoming === undefined) throw new Error("an interceptor replaced the context values of the call");
  return incoming;
}
