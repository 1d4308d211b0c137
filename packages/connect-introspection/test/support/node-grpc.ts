import { Client, credentials } from "@grpc/grpc-js";
import type { AnyDefinition, MethodDefinition, PackageDefinition, ServiceDefinition } from "@grpc/proto-loader";
import { onTestFinished } from "vitest";

/** A method as proto-loader describes it. Messages are plain objects. */
type Method = MethodDefinition<object, object>;

/** gRPC's own client for Node.js, until the test ends. */
export interface NodeGrpc {
  call(method: Method | undefined, request: object): Promise<object>;
  /** Sends all requests of a stream and iterates over the responses. */
  stream(method: Method | undefined, requests: readonly object[]): AsyncIterable<object>;
  /** Stops the server. */
  stop(): void;
}

export function openNodeGrpc(url: string, stop: () => void): NodeGrpc {
  const client = new Client(new URL(url).host, credentials.createInsecure());
  onTestFinished(() => client.close());
  return {
    stop,
    call(method, request) {
      const { path, requestSerialize, responseDeserialize } = required(method);
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) =>
          response === undefined ? reject(error ?? new Error("there is no response")) : resolve(response),
        );
      });
    },
    stream(method, requests) {
      const { path, requestSerialize, responseDeserialize } = required(method);
      const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
      for (const request of requests) stream.write(request);
      stream.end();
      return stream;
    },
  };
}

/** Returns the services among definitions, by name. */
export function servicesIn(definitions: PackageDefinition): ReadonlyMap<string, ServiceDefinition> {
  const isService = (definition: AnyDefinition): definition is ServiceDefinition => !("format" in definition);
  return new Map(
    Object.entries(definitions).filter((entry): entry is [string, ServiceDefinition] => isService(entry[1])),
  );
}

function required(method: Method | undefined): Method {
  if (method === undefined) throw new Error("there is no such method");
  return method;
}
