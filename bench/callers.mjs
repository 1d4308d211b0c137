import { randomUUID } from "node:crypto";
import { fromJson } from "@bufbuild/protobuf";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { httpBindings } from "../dist/rest/routes/http-rule.js";
import { servedServices } from "../dist/services/services.js";

const methods = new Map(
  servedServices.flatMap(({ service }) =>
    service.methods.map((method) => [`${service.typeName}/${method.name}`, method]),
  ),
);

/**
 * Ways to call a running service, by protocol. Each takes an RPC by its full name, the request as JSON of its message, and the
 * idempotency key, a new one if there is none; gives the answer as JSON, but over gRPC the message; and rejects where it is no success.
 *
 * @param {{ baseUrl: string, internalUrl: string }} service
 * @param {string} token
 */
export function openCallers({ baseUrl, internalUrl }, token) {
  const authorization = `Bearer ${token}`;
  const grpc = createGrpcTransport({ baseUrl: internalUrl });
  return {
    REST(rpc, message, key) {
      const { httpMethod, path, body } = restRequest(rpc, message);
      return send(`${baseUrl}${path}`, httpMethod, body, headersOf(authorization, key));
    },
    "Connect JSON": (rpc, message, key) =>
      send(`${internalUrl}/${rpc}`, "POST", message, headersOf(authorization, key)),
    async gRPC(rpc, message, key) {
      const method = methods.get(rpc);
      const headers = headersOf(authorization, key);
      return (await grpc.unary(method, undefined, undefined, headers, fromJson(method.input, message))).message;
    },
  };
}

function headersOf(authorization, key = randomUUID()) {
  return { authorization, "idempotency-key": key };
}

/**
 * The request over REST for that of an RPC that is published: its method, its path and its body. What is in the path is not in the
 * body, and neither is the mask, which REST makes of the members that are there.
 *
 * @param {string} rpc
 * @param {Record<string, unknown>} message
 */
export function restRequest(rpc, message) {
  const [{ httpMethod, template }] = httpBindings(methods.get(rpc));
  const body = { ...message };
  delete body.updateMask;
  const path = template.replaceAll(/\{(\w+)\}/g, (__, name) => {
    const member = name.replaceAll(/_([a-z])/g, (___, letter) => letter.toUpperCase());
    delete body[member];
    return message[member];
  });
  return { httpMethod, path, body };
}

async function send(url, method, body, headers) {
  const options = { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url, { ...options, method });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
