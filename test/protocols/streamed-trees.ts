import { create, createRegistry, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import type { StreamCall } from "../../src/call.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { OperationsService } from "../../src/gen/cupo/clinic/v1/operations_service_pb.js";
import { describeTreeService } from "../interceptors/described-service.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** The scope of the tree service. */
export const SCOPE = "trees:watch";

/** A test service whose method `watch` returns a stream, served instead of one of the clinic's. */
export const { service: TreeService, watch, method: read } = describeTreeService(SCOPE);

/** Returns the trees (as JSON) to stream to a call whose request has this text. */
export type OnWatch = (plain: string, call: StreamCall) => AsyncIterable<JsonValue>;

/** Streams as many trees as the text says. */
export async function* count(plain: string): AsyncIterable<JsonValue> {
  for (let n = 1; n <= Number(plain); n++) yield { plain: `${n}` };
}

/** Streams one tree and waits until the stream is aborted. Calls `ended` then. */
export function wait(ended: () => void = () => undefined): OnWatch {
  return async function* (_, { signal }) {
    try {
      yield { plain: "open" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    } finally {
      ended();
    }
  };
}

/** Starts the service with the tree service, which streams what the current `onWatch` returns. */
export function startTreeService(
  onWatch: () => OnWatch,
  environment: Record<string, string> = {},
): Promise<TestService> {
  const registry = createRegistry(watch.output);
  const implementation = {
    read: async () => create(read.output),
    async *watch(request: Message, call: StreamCall) {
      const { plain } = toJson(watch.input, request) as { plain?: string };
      for await (const tree of onWatch()(plain ?? "", call)) yield fromJson(watch.output, tree, { registry });
    },
  };
  return startTestService(environment, {
    served: (entry) => (entry.service === OperationsService ? { service: TreeService, implementation } : entry),
  });
}

/** Options of a call. */
export interface Opening {
  readonly as?: TokenFor;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** A stream as seen by its caller. */
export interface OpenStream {
  readonly headers: Headers;
  readonly trees: AsyncIterator<Message>;
}

/** Opens a stream. Its principal has the required scope, unless the token differs. */
export async function openStream(
  { token }: TestService,
  transport: Transport,
  plain: string,
  { as = {}, headers = {}, signal, timeoutMs }: Opening = {},
): Promise<OpenStream> {
  const authorization = `Bearer ${await token({ scopes: [SCOPE, "secret:none"], ...as })}`;
  const request = createAsyncIterable([fromJson(watch.input, { plain })]);
  const answer = await transport.stream(watch, signal, timeoutMs, { authorization, ...headers }, request);
  return { headers: answer.header, trees: answer.message[Symbol.asyncIterator]() };
}

/** Returns the next tree of a stream. Undefined at its end. */
export async function next(trees: AsyncIterator<Message>): Promise<JsonValue | undefined> {
  const { done, value } = await trees.next();
  return done === true ? undefined : toJson(watch.output, value);
}

/** Returns all remaining messages of a stream. */
export async function all(trees: AsyncIterator<Message>): Promise<JsonValue[]> {
  const found: JsonValue[] = [];
  for (let tree = await next(trees); tree !== undefined; tree = await next(trees)) found.push(tree);
  return found;
}

/** Returns the error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  const error = await promise.then(
    (value) => new Error(`did not fail, but gave ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ConnectError) return error;
  throw error;
}

/** Returns the Problem in the details of an error, as JSON. */
export function problemOf(error: ConnectError): Record<string, unknown> {
  const [problem] = error.findDetails(ProblemSchema);
  if (problem === undefined) throw error;
  return toJson(ProblemSchema, problem) as Record<string, unknown>;
}
