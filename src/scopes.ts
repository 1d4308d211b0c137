import { type DescMessage, getOption } from "@bufbuild/protobuf";
import { readable_with_scope as readableWithScope } from "./gen/cupo/options/v1/options_pb.js";
import { operationOf } from "./operation.js";
import type { ServiceEntry } from "./services/services.js";

/** Every scope that the protos of these services name, for operations and for fields, sorted. */
export function scopesOf(services: readonly Pick<ServiceEntry, "service">[]): string[] {
  const methods = services.flatMap(({ service }) => service.methods);
  const ofOperations = methods.map((method) => operationOf(method).scope);
  const ofFields = messagesFrom(methods.map(({ output }) => output))
    .flatMap(({ fields }) => fields)
    .map((field) => getOption(field, readableWithScope))
    .filter((scope) => scope !== "");
  return [...new Set([...ofOperations, ...ofFields])].toSorted();
}

/** The messages and those in their fields, at any depth. The set grows while it is walked. */
function messagesFrom(roots: readonly DescMessage[]): DescMessage[] {
  const found = new Set(roots);
  for (const { fields } of found) {
    for (const { message } of fields) if (message !== undefined) found.add(message);
  }
  return [...found];
}
