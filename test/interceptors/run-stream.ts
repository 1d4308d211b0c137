import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { StreamRequest, StreamResponse } from "@connectrpc/connect";
import type { Call } from "../../src/call.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import type { Stage } from "../../src/interceptors/stage.js";
import { valuesOf } from "../../src/open-call.js";
import { callWith, interceptorOf } from "./run-interceptor.js";

export const { watchEvents } = EventService.method;

type Messages = StreamResponse["message"];

interface StreamRequestInit {
  readonly message?: MessageInitShape<typeof watchEvents.input>;
  readonly call?: Call;
  readonly signal?: AbortSignal;
  readonly method?: StreamRequest["method"];
}

/** Returns the request that opens a stream, by default an empty request of WatchEvents. */
export function streamRequestOf({
  message = {},
  call = callWith(),
  signal = new AbortController().signal,
  method = watchEvents,
}: StreamRequestInit = {}): StreamRequest {
  return {
    stream: true,
    service: method.parent,
    method,
    message: listed([create(watchEvents.input, message)]),
    requestMethod: "POST",
    url: `https://api.example.org/${method.parent.typeName}/${method.name}`,
    signal,
    header: new Headers(),
    contextValues: valuesOf(call),
  };
}

/** Opens a stream through one stage. Returns the messages that the caller receives. */
export async function openStream(
  stage: Stage,
  request: StreamRequest,
  answer: (request: StreamRequest) => Messages | Promise<Messages>,
): Promise<Messages> {
  const { service, method } = request;
  const interceptor = interceptorOf(stage, method);
  const response = await interceptor(async (arrived) => {
    if (!arrived.stream) throw new Error("not a stream");
    const message = await answer(arrived);
    return { stream: true, service, method, header: new Headers(), trailer: new Headers(), message };
  })(request);
  if (!response.stream) throw new Error("not a stream");
  return response.message;
}

/** Sends these messages and ends. */
export async function* listed<T>(messages: readonly T[]): AsyncGenerator<T> {
  yield* messages;
}

/** Returns all messages of a stream. */
export async function received<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}
