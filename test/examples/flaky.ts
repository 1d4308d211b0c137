import type { ReadyCall } from "../../src/call.js";
import { serviceUnavailable } from "../../src/errors.js";
import type { ServiceEntry } from "../../src/services/services.js";

/** A service that is unavailable at the first attempt of each call with a key. */
export interface Flaky {
  served(entry: ServiceEntry): ServiceEntry;
  /** Returns the calls of a client with a key, one `operation key` per attempt. */
  callsOf(client: string): readonly string[];
}

/** Answers 503 to the first call with each key, for these clients only. */
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
