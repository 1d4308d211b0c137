import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { NodeRequest } from "../rest/read-body.js";

/** The protocols that an RPC can be called by. */
export type Protocol = "connect" | "grpc" | "grpc-web";

/** The message of a call, still unread, and what its headers say of it. */
export interface Incoming {
  readonly node: NodeRequest;
  readonly protocol: Protocol;
  /** ProtoJSON; protobuf's binary form otherwise. */
  readonly isJson: boolean;
  /** Whether the call is answered by a stream. Connect puts the messages of such calls into envelopes, as gRPC does all. */
  readonly isStream: boolean;
  /** The name of the header with the caller's time limit, where that is none. */
  readonly badTimeLimit?: string | undefined;
}

const incomingKey = createContextKey<Incoming | undefined>(undefined, { description: "rpc.incoming" });

/** Puts the unread message where {@link incomingOf} finds it. */
export function setIncoming(values: ContextValues, incoming: Incoming): void {
  values.set(incomingKey, incoming);
}

/** The unread message that travels in these context values. */
export function incomingOf(values: ContextValues): Incoming {
  const incoming = values.get(incomingKey);
  if (incoming === undefined) throw new Error("the context values of the call were replaced");
  return incoming;
}
