import { randomUUID } from "node:crypto";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import type {
  AnyDefinition,
  MessageTypeDefinition,
  MethodDefinition,
  PackageDefinition,
  ServiceDefinition,
} from "@grpc/proto-loader";

/** A method as proto-loader describes it: requests and responses are plain objects. */
export type LoadedMethod = MethodDefinition<object, object>;

/**
 * gRPC's client for Node.js, with methods that proto-loader made from protos or descriptors. Methods are named
 * `package.Service.Method`.
 */
export interface NodeGrpc {
  method(name: string): LoadedMethod;
  /** Calls a method with a new idempotency key. Rejects with a ServiceError of grpc-js. */
  call(name: string, request: object): Promise<object>;
  /** Resolves with the first response of a stream that `accepts`, and cancels the stream. */
  firstOf(name: string, request: object, accepts: (response: object) => boolean): Promise<object>;
  close(): void;
}

export function createNodeGrpc(url: string, definitions: PackageDefinition, token: string): NodeGrpc {
  const client = new Client(new URL(url).host, credentials.createInsecure());
  const method = (name: string) => methodNamed(definitions, name);
  return {
    method,
    call(name, request) {
      const { path, requestSerialize, responseDeserialize } = method(name);
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          metadata(token),
          (error, response) =>
            response === undefined ? reject(error ?? new Error(`${name} did not answer`)) : resolve(response),
        );
      });
    },
    firstOf(name, request, accepts) {
      const { path, requestSerialize, responseDeserialize } = method(name);
      const responses = client.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata(token),
      );
      return new Promise((resolve, reject) => {
        responses.on("error", reject);
        responses.on("data", (response: object) => {
          if (!accepts(response)) return;
          resolve(response);
          responses.cancel();
        });
      });
    },
    close: () => client.close(),
  };
}

/** Returns the encoded google.rpc.Status of a gRPC error. Throws if the error has none. */
export function statusDetails(error: ServiceError): Buffer {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  if (!(bytes instanceof Buffer)) throw new Error(`no details: ${error.message}`);
  return bytes;
}

/** Returns the services among the definitions, by name. */
export function servicesIn(definitions: PackageDefinition): Map<string, ServiceDefinition> {
  return new Map(
    Object.entries(definitions).filter((entry): entry is [string, ServiceDefinition] => isService(entry[1])),
  );
}

/** Whether a definition is a message, which can be serialized and parsed. */
export function isMessage(definition: AnyDefinition): definition is MessageTypeDefinition<object, object> {
  return definition["format"] === "Protocol Buffer 3 DescriptorProto";
}

function isService(definition: AnyDefinition): definition is ServiceDefinition {
  return !("format" in definition);
}

function methodNamed(definitions: PackageDefinition, name: string): LoadedMethod {
  const [, service = "", method = ""] = /^(.*)\.(\w+)$/.exec(name) ?? [];
  const found = servicesIn(definitions).get(service)?.[method];
  if (found === undefined) throw new Error(`there is no method ${name}`);
  return found;
}

function metadata(token: string): Metadata {
  const sent = new Metadata();
  sent.set("authorization", `Bearer ${token}`);
  sent.set("idempotency-key", randomUUID());
  return sent;
}
