import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { isPublished } from "../../operation.js";
import { documentInfo } from "../document-parts.js";
import type { RequestExamples } from "../examples/request-example.js";
import { introduction } from "../introduction.js";
import type { ProblemOptions } from "../problem-responses.js";
import { describeServices } from "./service-document.js";

/** The input of the OpenAPI document of the internal listener. */
export interface InternalDocumentOptions extends ProblemOptions {
  readonly services: readonly { readonly service: DescService }[];
  readonly examples: RequestExamples;
  /** The URL of the listener. Defaults to the origin from which the document is served. */
  readonly serverUrl?: string;
}

const DESCRIPTION = `The operations of the internal listener. The clinic's own ones are described over REST, below \`/api/clinic/v1\`, and \`x-connect\` has the path of the same operation over Connect. The published ones are REST on the public listener and Connect here: a POST whose body is the request as JSON ([the protocol](https://connectrpc.com/docs/protocol)). Over Connect an error has an HTTP status and a Connect code, and its \`details\` contain the same Problem. The same address serves gRPC and gRPC-Web; their contract is the proto files.

${introduction}`;

/**
 * Returns the OpenAPI document of the internal listener. It describes the operations of `cupo.clinic.v1` over REST, and
 * the published operations over Connect.
 */
export function describeInternal({ services, serverUrl, ...options }: InternalDocumentOptions): JsonObject {
  const all = services.map(({ service }) => service);
  return describeServices({
    ...options,
    info: documentInfo("Cupo, internal operations", DESCRIPTION),
    servers: [{ url: serverUrl ?? "/", description: "The internal listener" }],
    rest: all.filter((service) => !isPublished(service)),
    connect: all.filter((service) => isPublished(service)),
    isConnectBeside: true,
  });
}
