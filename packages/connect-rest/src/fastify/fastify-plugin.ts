import { METHODS } from "node:http";
import type { ContextValues } from "@connectrpc/connect";
import type { RestHandler } from "../handler.js";
import type { NodeResponse } from "../node/node-response.js";
import type { NodeRequest } from "../node/read-body.js";
import { serveRequest } from "../node/serve-request.js";

/** The part of a Fastify request that the plugin uses. */
export interface FastifyRequestPart {
  readonly raw: NodeRequest;
}

/** The part of a Fastify reply that the plugin uses. */
export interface FastifyReplyPart {
  readonly raw: NodeResponse;
  getHeaders(): Record<string, number | string | string[] | undefined>;
  hijack(): unknown;
  callNotFound(): unknown;
}

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  readonly supportedMethods: readonly string[];
  addHttpMethod(method: string, options: { readonly hasBody: boolean }): unknown;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    parser: (request: FastifyRequestPart, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(path: string, handler: (request: FastifyRequestPart, reply: FastifyReplyPart) => Promise<unknown>): unknown;
}

export interface FastifyPluginOptions {
  /**
   * Creates the context values that interceptors and implementations receive. Defaults to new values for each request.
   */
  contextValues?(request: FastifyRequestPart): ContextValues;
  /**
   * Receives an error that no answer can report: for example the handler's error renderer threw, Node.js rejected the
   * status or a header, or a body in chunks failed after its start. Defaults to ignoring the error.
   */
  onFailure?(error: unknown): void;
}

/**
 * Serves a REST handler as a plugin of Fastify 5: `app.register(fastifyPlugin(rest))`.
 * - Do not wrap it with fastify-plugin, because it needs its own scope, in which no parser reads bodies.
 * - If you register it with a `prefix`, give the handler the same `basePath`: Fastify does not remove the prefix from
 *   the URL.
 * - It serves every path below its prefix that no other route of the application has. If the REST handler has no route
 *   for the path either, the application's not-found handler answers.
 * - The hooks of the application run, except the payload hooks preSerialization and onSend. Headers that a hook sets on
 *   the reply are sent.
 */
export function fastifyPlugin(
  rest: RestHandler,
  options: FastifyPluginOptions = {},
): (scope: FastifyScope) => Promise<void> {
  const onFailure = (error: unknown) => options.onFailure?.(error);
  return async (scope) => {
    supportMethods(scope, rest);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/*", async (request, reply) => {
      if (!rest.hasPath(request.raw.url ?? "")) return reply.callNotFound();
      reply.hijack();
      copyHeaders(reply);
      const openValues = () => options.contextValues?.(request);
      return serveRequest(rest, request.raw, reply.raw, { openValues, onFailure });
    });
  };
}

/** Makes Fastify accept the HTTP methods of custom bindings. Omits methods that Node.js does not know. */
function supportMethods(scope: FastifyScope, { routes }: RestHandler): void {
  for (const { httpMethod } of routes) {
    const isNew = METHODS.includes(httpMethod) && !scope.supportedMethods.includes(httpMethod);
    if (isNew) scope.addHttpMethod(httpMethod, { hasBody: true });
  }
}

/**
 * Copies headers from the reply of Fastify to the response of Node.js. Hooks set headers on the reply, and Fastify
 * copies them only for answers that it sends itself.
 */
function copyHeaders(reply: FastifyReplyPart): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}
