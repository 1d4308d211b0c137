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

/** The described service whose method `watch` answers by a stream, in place of one of the clinic's. */
export const { service: TreeService, watch, method: read } = describeTreeService(SCOPE);

/** What is streamed to a call whose request has this text: trees as JSON. */
export type OnWatch = (plain: string, call: StreamCall) => AsyncIterable<JsonValue>;

/** The trees that a call names, one after the other. */
export async function* count(plain: string): AsyncIterable<JsonValue> {
  for (let n = 1; n <= Number(plain); n++) yield { plain: `${n}` };
}

/** Says that it is there, and nothing more until it has to end. `ended` is called when it did. */
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

/** The service with the tree service in it, which does when it is watched what `onWatch` gives at that moment. */
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

/** What a call may have of its own. */
export interface Opening {
  readonly as?: TokenFor;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** A stream as its caller has it. */
export interface OpenStream {
  readonly headers: Headers;
  readonly trees: AsyncIterator<Message>;
}

/** Watches, as a principal with the scope to do so unless the token is for another. */
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

/** The next tree of a stream; undefined where it ended. */
export async function next(trees: AsyncIterator<Message>): Promise<JsonValue | undefined> {
  const { done, value } = await trees.next();
  return done === true ? undefined : toJson(watch.output, value);
}

/** All that a stream still gives. */
export async function all(trees: AsyncIterator<Message>): Promise<JsonValue[]> {
  const found: JsonValue[] = [];
  for (let tree = await next(trees); tree !== undefined; tree = await next(trees)) found.push(tree);
  return found;
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  const error = await promise.then(
    (value) => new Error(`did not fail, but gave ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof ConnectError) return error;
  throw error;
}

/** The Problem among the details of an error, as JSON. */
export function problemOf(error: ConnectError): Record<string, unknown> {
  const [problem] = error.findDetails(ProblemSchema);
  if (problem === undefined) throw error;
  return toJson(ProblemSchema, problem) as Record<string, unknown>;
}
