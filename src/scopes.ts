import { getOption } from "@bufbuild/protobuf";
import { readable_with_scope as readableWithScope } from "./gen/cupo/options/v1/options_pb.js";
import { operationOf } from "./operation.js";
import type { ServiceEntry } from "./services/services.js";

/** Every scope that the protos of these services name, for operations and for fields, sorted. */
export function scopesOf(services: readonly Pick<ServiceEntry, "service">[]): string[] {
  const methods = services.flatMap(({ service }) => service.methods);
  const ofOperations = methods.map((method) => operationOf(method).scope);
  const ofFields = services
    .flatMap(({ service }) => service.file.dependencies.concat(service.file))
    .flatMap((file) => file.messages)
    .flatMap((message) => message.fields)
    .map((field) => getOption(field, readableWithScope))
    .filter((scope) => scope !== "");
  return [...new Set([...ofOperations, ...ofFields])].toSorted();
}
