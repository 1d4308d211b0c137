import type { DescMessage } from "@bufbuild/protobuf";
import { operationOf } from "./operation.js";
import { readableWithScopeOf } from "./proto-options.js";
import type { ServiceEntry } from "./services/services.js";

/** Returns every scope that the protos of these services state for operations and fields, sorted. */
export function scopesOf(services: readonly Pick<ServiceEntry, "service">[]): string[] {
  const methods = services.flatMap(({ service }) => service.methods);
  const ofOperations = methods.map((method) => operationOf(method).scope);
  const ofFields = messagesFrom(methods.map(({ output }) => output))
    .flatMap(({ fields }) => fields)
    .map(readableWithScopeOf)
    .filter((scope) => scope !== "");
  return [...new Set([...ofOperations, ...ofFields])].toSorted();
}

/**
 * Returns the messages `roots` and all messages in their fields, at any depth. The loop adds messages to `found` and
 * later visits them too.
 */
function messagesFrom(roots: readonly DescMessage[]): DescMessage[] {
  const found = new Set(roots);
  for (const { fields } of found) {
    for (const { message } of fields) if (message !== undefined) found.add(message);
  }
  return [...found];
}
