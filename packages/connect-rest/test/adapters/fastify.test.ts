import { createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import { type FastifyInstance, type FastifyRequest, fastify } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { fastifyPlugin } from "../../src/fastify/fastify-plugin.js";
import { createRestHandler } from "../../src/handler.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { libraryService } from "../support/library-service.js";
import { makeRoutes } from "../support/make-service.js";
import { type SendInit, sendHttp1, sendHttp2 } from "../support/start-server.js";

const json = { "content-type": "application/json" };
const services = [{ service: LibraryService, implementation: libraryService }];
const rest = createRestHandler({ services });

describe("an application", () => {
  test("keeps its own routes and its 404", async () => {
    const app = fastify().get("/v1/books/own", () => "own");
    app.register(fastifyPlugin(rest));
    app.setNotFoundHandler((request, reply) => reply.code(418).send(request.url));
    const port = await start(app);
    expect(await sendHttp1(port, "GET", "/v1/books/own")).toMatchObject({ text: "own" });
    expect(await sendHttp1(port, "GET", "/v1/books/x")).toMatchObject({ status: 200 });
    expect(await sendHttp1(port, "GET", "/nothing")).toMatchObject({ status: 418, text: "/nothing" });
    const body = { headers: json, body: "{}" };
    expect(await sendHttp1(port, "POST", "/nothing", body)).toMatchObject({ status: 418, text: "/nothing" });
  });

  test("keeps its parsers of bodies", async () => {
    const app = fastify().post("/own", ({ body }) => body);
    app.register(fastifyPlugin(rest));
    const body = '{"id":"x"}';
    const port = await start(app);
    expect(await sendHttp1(port, "POST", "/own", { headers: json, body })).toMatchObject({ status: 200, text: body });
    expect(await sendHttp1(port, "POST", "/v1/kinds", { headers: json, body })).toMatchObject({ status: 200 });
  });

  test("serves several handlers, each below its prefix", async () => {
    const app = fastify();
    for (const basePath of ["/a", "/b"]) {
      app.register(fastifyPlugin(createRestHandler({ services, basePath })), { prefix: basePath });
    }
    const port = await start(app);
    expect(await sendHttp1(port, "GET", "/a/v1/books/x")).toMatchObject({ status: 200 });
    expect(await sendHttp1(port, "GET", "/b/v1/books/x")).toMatchObject({ status: 200 });
    expect(await sendHttp1(port, "GET", "/v1/books/x")).toMatchObject({ status: 404 });
  });

  test("runs its hooks, which can refuse a request and set headers", async () => {
    const responses: number[] = [];
    const app = fastify()
      .addHook("preHandler", async (request, reply) => {
        reply.header("x-request", request.id).header("set-cookie", ["a=1", "b=2"]);
        if (request.headers.authorization === undefined) await reply.code(401).send("who?");
      })
      .addHook("onResponse", async (_request, reply) => void responses.push(reply.statusCode));
    app.register(fastifyPlugin(rest));
    const port = await start(app);
    expect(await sendHttp1(port, "POST", "/v1/kinds", { headers: json, body: "{}" })).toMatchObject({ status: 401 });
    const headers = { ...json, authorization: "Ana" };
    const { status, headers: received } = await sendHttp1(port, "POST", "/v1/kinds", { headers, body: "{}" });
    expect([status, received["x-request"], received["set-cookie"]]).toEqual([200, "req-2", ["a=1", "b=2"]]);
    expect(responses).toEqual([401, 200]);
  });

  test("reads no body itself, so its bodyLimit does not count", async () => {
    const app = fastify({ bodyLimit: 10 });
    app.register(fastifyPlugin(rest));
    const port = await start(app);
    const answer = await sendHttp1(port, "POST", "/v1/kinds", { headers: json, body: '{"id":"0123456789"}' });
    expect(answer).toMatchObject({ status: 200 });
  });

  test.each([
    ["a path that cannot be decoded", 400, "GET", "/v1/books/%zz", {}],
    [
      "a Content-Type that is no media type",
      415,
      "POST",
      "/v1/kinds",
      { headers: { "content-type": "json" }, body: "{}" },
    ],
  ] satisfies [string, number, string, string, SendInit][])(
    "refuses %s by itself with %i",
    async (_, status, method, path, init) => {
      const app = fastify();
      app.register(fastifyPlugin(rest));
      const answer = await sendHttp1(await start(app), method, path, init);
      expect(answer).toMatchObject({ status, text: expect.stringContaining("FST_ERR_") });
    },
  );

  test("can speak HTTP/2", async () => {
    const app = fastify({ http2: true });
    app.register(fastifyPlugin(rest));
    const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
    onTestFinished(() => app.close());
    expect(await sendHttp2(Number(port), "POST", "/v1/kinds", { headers: json, body: "{}" })).toMatchObject({
      status: 200,
    });
  });
});

test("methods of custom bindings are accepted, as far as Node.js knows them", async () => {
  const made = createRestHandler({ services: [makeRoutes("PURGE /a", "LIST /a", "GET /a")] });
  const app = fastify();
  app.register(fastifyPlugin(made));
  const port = await start(app);
  expect(await sendHttp1(port, "PURGE", "/a")).toMatchObject({ status: 200 });
  expect(await sendHttp1(port, "PUT", "/a")).toMatchObject({ status: 405, headers: { allow: "GET, LIST, PURGE" } });
});

test("context values can be made from what hooks add to the request", async () => {
  const key = createContextKey("");
  const seen: string[] = [];
  const look: Interceptor = (next) => (request) => {
    seen.push(request.contextValues.get(key));
    return next(request);
  };
  const contextValues = (request: FastifyRequest) => createContextValues().set(key, request.id);
  const app = fastify();
  app.register(fastifyPlugin(createRestHandler({ services, interceptors: [look] }), { contextValues }));
  await sendHttp1(await start(app), "GET", "/v1/books/x");
  expect(seen).toEqual(["req-1"]);
});

async function start(app: FastifyInstance): Promise<number> {
  const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
  onTestFinished(() => app.close());
  return Number(port);
}
