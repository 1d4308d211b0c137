import type { ReadyCall } from "../../src/call.js";
import { serviceUnavailable } from "../../src/errors.js";
import type { ServiceEntry } from "../../src/services/services.js";

/** A service that is away when it is called for the first time by a client, as somebody who calls sees it. */
export interface Flaky {
  served(entry: ServiceEntry): ServiceEntry;
  /** The calls of a client to operations that take a key: each operation and key, as often as it came. */
  callsOf(client: string): readonly string[];
}

/** Refuses the first call with each key, but for clients who are not among `clients`. */
export function createFlaky(clients: ReadonlySet<string>): Flaky {
  const calls = new Map<string, string[]>();
  const refuseFirst = ({ principal: { clientId }, operation, headers }: ReadyCall) => {
    const [key] = headers.idempotencyKey;
    if (key === undefined || !clients.has(clientId) || /\/(Search|Get|List)/.test(operation)) return;
    const known = calls.get(clientId) ?? [];
    calls.set(clientId, known);
    const call = `${operation.split("/")[1]} ${key}`;
    known.push(call);
    if (known.filter((each) => each === call).length === 1) throw serviceUnavailable(1);
  };
  return {
    served(entry) {
      const implementation: Record<string, unknown> = {};
      for (const { localName } of entry.service.methods) {
        const operation: unknown = Reflect.get(entry.implementation, localName);
        if (typeof operation !== "function") continue;
        implementation[localName] = (request: unknown, call: ReadyCall): unknown => {
          refuseFirst(call);
          return operation.call(entry.implementation, request, call);
        };
      }
      return { ...entry, implementation };
    },
    callsOf: (client) => calls.get(client) ?? [],
  };
}
