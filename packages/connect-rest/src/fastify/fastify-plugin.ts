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

/** Options of the plugin. */
export interface FastifyPluginOptions {
  /** Creates the context values of a request, which interceptors and implementations receive. Defaults to new ones. */
  contextValues?(request: FastifyRequestPart): ContextValues;
  /**
   * Receives an error that no answer can report: the renderer of errors threw, Node did not accept the answer, or a body
   * in chunks broke off. Defaults to none.
   */
  onFailure?(error: unknown): void;
}

/**
 * Serves a REST handler as a plugin of Fastify 5: `app.register(fastifyPlugin(rest))`. Do not wrap it by
 * fastify-plugin: it needs a scope of its own, in which no parser reads bodies.
 *
 * The plugin takes every path below its prefix that no other route of the application has. A path that the handler has
 * no route for gets the not-found handler of the application. The hooks of the application run, except those for
 * payloads (preSerialization and onSend). Headers that a hook sets on the reply are sent.
 *
 * With a `prefix` the handler needs it as its `basePath`, because Fastify does not remove it from the address.
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

/** Makes Fastify accept the methods of custom bindings, as far as Node.js does. */
function supportMethods(scope: FastifyScope, { routes }: RestHandler): void {
  for (const { httpMethod } of routes) {
    const isNew = METHODS.includes(httpMethod) && !scope.supportedMethods.includes(httpMethod);
    if (isNew) scope.addHttpMethod(httpMethod, { hasBody: true });
  }
}

/** Copies the headers that hooks set. Fastify itself does so only for the answers that it sends. */
function copyHeaders(reply: FastifyReplyPart): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}
