import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { httpBindings } from "@cupo/connect-rest";
import { isPublished as isPublishedService } from "../src/operation.js";
import { servedServices } from "../src/services/services.js";
import { type HttpClient, headersOf, openHttpClient } from "./load.js";
import type { Addresses } from "./service.js";

/** The RPCs that more than one part calls, by full name. */
export const RPC = {
  register: "cupo.access.v1.PatientService/RegisterPatient",
  reschedule: "cupo.access.v1.AppointmentService/RescheduleAppointment",
  updateRule: "cupo.access.v1.SchedulingConfigurationService/UpdateProgramRule",
  search: "cupo.clinic.v1.BookingService/SearchAppointmentOptions",
  book: "cupo.clinic.v1.BookingService/BookAppointment",
} as const;

/**
 * Calls an RPC by its full name with the JSON of its message, and under an idempotency key, a new one by default.
 * Returns the answer. Rejects if it is no success. The caller states the members that it reads.
 */
export type Call = <Response>(rpc: string, message: JsonObject, key?: string) => Promise<Response>;

/** The protocols of the service. */
export type Protocol = "REST" | "Connect JSON" | "gRPC";

const methods = new Map(
  servedServices.flatMap(({ service }) =>
    service.methods.map((method) => [`${service.typeName}/${method.name}`, method]),
  ),
);

/** Returns a way to call a running service by each protocol. Over gRPC the answer is the message. */
export function openCallers({ baseUrl, internalUrl }: Addresses, token: string): Record<Protocol, Call> {
  const rest = openHttpClient(baseUrl);
  const rpcs = openHttpClient(internalUrl);
  const grpc = createGrpcTransport({ baseUrl: internalUrl });
  const basePath = new URL(baseUrl).pathname;
  return {
    REST(rpc, message, key) {
      const { httpMethod, path, body } = restRequest(rpc, message);
      return send(rest, { method: httpMethod, path: `${basePath}${path}`, body, headers: headersOf(token, key) });
    },
    "Connect JSON": (rpc, message, key) =>
      send(rpcs, { method: "POST", path: `/${rpc}`, body: message, headers: headersOf(token, key) }),
    async gRPC<Response>(rpc: string, message: JsonObject, key?: string) {
      const method = methodOf(rpc);
      const { authorization = "", "idempotency-key": ownKey = "" } = headersOf(token, key);
      const headers = { authorization, "idempotency-key": ownKey };
      const input = fromJson(method.input, message);
      return (await grpc.unary(method, undefined, undefined, headers, input)).message as Response;
    },
  };
}

/** Returns whether the public listener always serves an RPC over REST. */
export function isPublished(rpc: string): boolean {
  return isPublishedService(methodOf(rpc).parent);
}

/**
 * Returns the REST request for the message of a published RPC. The body has no members of the path and no mask, because
 * REST derives the mask from the members of the body.
 */
function restRequest(rpc: string, message: JsonObject): { httpMethod: string; path: string; body: JsonObject } {
  const [binding] = httpBindings(methodOf(rpc));
  if (binding === undefined) throw new Error(`${rpc} has no path`);
  const body = { ...message };
  delete body["updateMask"];
  const path = binding.template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const member = name.replaceAll(/_([a-z])/g, (__, letter: string) => letter.toUpperCase());
    delete body[member];
    const value = message[member];
    if (typeof value !== "string") throw new Error(`${rpc} needs ${member} in its path`);
    return value;
  });
  return { httpMethod: binding.httpMethod, path, body };
}

function methodOf(rpc: string): DescMethodUnary {
  const method = methods.get(rpc);
  if (method?.methodKind !== "unary") throw new Error(`there is no ${rpc} with one request and one answer`);
  return method as DescMethodUnary;
}

async function send<Response>(
  client: HttpClient,
  request: { method: string; path: string; headers: Record<string, string>; body: JsonObject },
): Promise<Response> {
  const { method, path, headers } = request;
  const { status, body } = await client.send(method, path, headers, JSON.stringify(request.body));
  if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}: ${body}`);
  return JSON.parse(body);
}
