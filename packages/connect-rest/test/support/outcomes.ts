import { type DescMethod, type Message, toJson } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { RestHandlerOptions } from "../../src/handler.js";
import type { RestService } from "../../src/routes/rest-service.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { libraryService } from "./library-service.js";
import { type SendInit, startServer } from "./start-server.js";

/** Sends a request to a service that records its calls. Returns the only call. */
export async function bind(method: string, path: string, init: SendInit = {}, served: RestService = recordable()) {
  const calls: { method: string; message: unknown }[] = [];
  const { send } = await startServer({
    services: [
      recording(served, (called, message) => {
        calls.push({ method: called.name, message: toJson(called.input, message) });
      }),
    ],
  });
  const { status, text } = await send(method, path, init);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return calls[0];
}

function recordable(): RestService {
  return { service: LibraryService, implementation: libraryService };
}

function recording({ service }: RestService, record: (method: DescMethod, message: Message) => void): RestService {
  const entries = service.methods.map((method) => [
    method.localName,
    (message: Message) => {
      record(method, message);
      return {};
    },
  ]);
  return { service, implementation: Object.fromEntries(entries) };
}

/** Sends a request. Returns the reason for its rejection, or "answered". */
export async function refusal(
  method: string,
  path: string,
  init: SendInit = {},
  options: Partial<RestHandlerOptions> = {},
) {
  const { send } = await startServer(options);
  const { status, text } = await send(method, path, init);
  if (status === 200) return "answered";
  const { reason, violations } = JSON.parse(text) as { reason: string; violations: { code: string; field: string }[] };
  return { reason, violations: violations.map(({ code, field }) => `${code} ${field}`).join(", ") };
}
