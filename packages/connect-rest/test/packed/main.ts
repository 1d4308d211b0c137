/**
 * Serves a service by the five adapters, sends the same requests to each and prints each answer once: an adapter that
 * answers like those before it prints no answer. The test of the packed packages runs this where only the tarballs are
 * installed.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import { connect, createServer as createHttp2Server, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { createRestHandler, restService } from "@cupo/connect-rest";
import { fastifyPlugin } from "@cupo/connect-rest/fastify";
import { fetchHandler } from "@cupo/connect-rest/fetch";
import { nodeListener } from "@cupo/connect-rest/node";
import express from "express";
import { fastify } from "fastify";
import { LibraryService } from "../gen/library/v1/library_pb.js";

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}

/** A status, the headers Allow and Content-Type, and the body. */
type Answer = readonly [status: number, allow: string | null, type: string | null, body: string];
type Send = (exchange: Exchange) => Promise<Answer>;

const library = restService(LibraryService, {
  getBook({ name }) {
    if (name.endsWith("lost")) throw new ConnectError("There is no such book.", Code.NotFound);
    return { name, title: "La vorágine" };
  },
  createBook: ({ shelf, book }) => ({ name: `shelves/${shelf}/books/1`, title: book?.title ?? "" }),
});
const rest = createRestHandler({ services: [library], maxBodyBytes: 100 });
const listener = nodeListener(rest);

const json = "application/json";
const exchanges: readonly Exchange[] = [
  { method: "GET", path: "/v1/shelves/a/books/b" },
  { method: "GET", path: "/v1/books/lost" },
  { method: "POST", path: "/v1/shelves/a/books", type: json, body: '{"title":"María"}' },
  { method: "POST", path: "/v1/shelves/a/books", type: json, body: '{"title":5,"other":6}' },
  { method: "POST", path: "/v1/shelves/a/books", type: json, body: "{" },
  { method: "POST", path: "/v1/shelves/a/books", type: json, body: " ".repeat(101) },
  { method: "POST", path: "/v1/shelves/a/books", type: "text/plain", body: "{}" },
  { method: "PUT", path: "/v1/shelves/a/books", type: json, body: "{}" },
  { method: "GET", path: "/nothing" },
];

const adapters: Readonly<Record<string, () => Promise<Send>>> = {
  "node:http": async () => sendTo(await listen(createServer((request, response) => void listener(request, response)))),
  "node:http2": async () => {
    const server = createHttp2Server((request, response) => void listener(request, response));
    return sendByHttp2(await listen(server));
  },
  Express: async () => {
    const app: RequestListener = express().use(listener, (request, response) => listener(request, response));
    return sendTo(await listen(createServer(app)));
  },
  Fastify: async () => {
    const app = fastify({ forceCloseConnections: true });
    await app.register(fastifyPlugin(rest));
    app.setNotFoundHandler((request, reply) => listener(request.raw, reply.hijack().raw));
    return sendTo(await app.listen({ port: 0, host: "127.0.0.1" }));
  },
  Fetch: async () => {
    const handle = fetchHandler(rest);
    return async (exchange) => read(await handle(new Request(`http://127.0.0.1${exchange.path}`, initOf(exchange))));
  },
};

const printed = new Set<string>();
for (const [name, open] of Object.entries(adapters)) {
  const send = await open();
  for (const exchange of exchanges) {
    const line = JSON.stringify([exchange.method, exchange.path, ...(await send(exchange))]);
    if (!printed.has(line)) console.log(`${name} answers ${line}`);
    printed.add(line);
  }
  console.log(`${name} has answered`);
}
process.exit();

async function listen(server: Server | Http2Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sendTo(origin: string): Send {
  return async (exchange) => read(await fetch(`${origin}${exchange.path}`, initOf(exchange)));
}

function initOf({ method, type, body }: Exchange): RequestInit {
  return {
    method,
    ...(type === undefined ? {} : { headers: { "content-type": type } }),
    ...(body === undefined ? {} : { body }),
  };
}

async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return [status, headers.get("allow"), headers.get("content-type"), await response.text()];
}

function sendByHttp2(origin: string): Send {
  return ({ method, path, type, body }) =>
    new Promise((resolve, reject) => {
      const session = connect(origin).on("error", reject);
      const headers = type === undefined ? {} : { "content-type": type };
      const stream = session.request(
        { ":method": method, ":path": path, ...headers },
        { endStream: body === undefined },
      );
      const answer = new Promise<Response>((respond) => {
        stream.on("response", (received) => {
          const { ":status": status = 0, "content-type": contentType, allow } = received;
          const known = Object.entries({ "content-type": contentType, allow });
          const sent = known.flatMap(([name, value]): [string, string][] =>
            typeof value === "string" ? [[name, value]] : [],
          );
          const chunks: Buffer[] = [];
          stream.on("data", (chunk: Buffer) => chunks.push(chunk));
          stream.on("end", () => respond(new Response(Buffer.concat(chunks), { status, headers: sent })));
        });
      });
      stream.on("error", reject);
      if (body !== undefined) stream.end(body);
      void answer
        .then(read)
        .then(resolve, reject)
        .finally(() => session.close());
    });
}
