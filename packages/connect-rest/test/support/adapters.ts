import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { ContextValues } from "@connectrpc/connect";
import express from "express";
import { fastify } from "fastify";
import { onTestFinished } from "vitest";
import { fastifyPlugin } from "../../src/fastify/fastify-plugin.js";
import { fetchHandler } from "../../src/fetch/fetch-handler.js";
import type { RestHandler } from "../../src/handler.js";
import { nodeListener } from "../../src/node/node-listener.js";
import { listen, type Received, type SendInit, sendHttp1, sendHttp2 } from "./start-server.js";

/** A REST handler, served by one adapter. */
export interface Served {
  send(method: string, path: string, init?: SendInit): Promise<Received>;
  /** The TCP port, unless the adapter has no server of its own. */
  readonly port?: number;
}

/** Options that all adapters have. */
export interface AdapterOptions {
  contextValues?(): ContextValues;
  onFailure?(error: unknown): void;
}

/** Serves a handler until the test ends. */
export type Serve = (rest: RestHandler, options?: AdapterOptions) => Promise<Served>;

/** The adapters by name. The applications of Express and Fastify leave their 404 to the handler. */
export const adapters: Readonly<Record<string, Serve>> = {
  async "node:http"(rest, options) {
    const handle = nodeListener(rest, options);
    const server = createServer((request, response) => void handle(request, response));
    const port = await listen(server);
    onTestFinished(() => server.closeAllConnections());
    return { port, send: (method, path, init) => sendHttp1(port, method, path, init) };
  },
  async "node:http2"(rest, options) {
    const handle = nodeListener(rest, options);
    const server = createHttp2Server((request, response) => void handle(request, response));
    const port = await listen(server);
    return { port, send: (method, path, init) => sendHttp2(port, method, path, init) };
  },
  async Express(rest, options) {
    const handle = nodeListener(rest, options);
    const app = express().use(handle, (request, response) => handle(request, response));
    const server = createServer((request, response) => void app(request, response));
    const port = await listen(server);
    onTestFinished(() => server.closeAllConnections());
    return { port, send: (method, path, init) => sendHttp1(port, method, path, init) };
  },
  async Fastify(rest, options) {
    const handle = nodeListener(rest, options);
    const app = fastify({ forceCloseConnections: true });
    await app.register(fastifyPlugin(rest, options));
    app.setNotFoundHandler((request, reply) => handle(request.raw, reply.hijack().raw));
    const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
    onTestFinished(() => app.close());
    return { port: Number(port), send: (method, path, init) => sendHttp1(Number(port), method, path, init) };
  },
  async Fetch(rest, options) {
    const handle = fetchHandler(rest, options);
    return { send: async (method, path, init) => receive(await handle(requestOf(method, path, init))) };
  },
};

function requestOf(method: string, path: string, { headers = {}, body }: SendInit = {}): Request {
  const flat = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  return new Request(`http://127.0.0.1${path}`, { method, headers: flat, ...(body === undefined ? {} : { body }) });
}

/** Converts a Response to the form in which the other clients return an answer. */
async function receive(response: Response): Promise<Received> {
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  return { status: response.status, headers, text: await response.text() };
}
