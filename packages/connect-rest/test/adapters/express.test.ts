import { createServer } from "node:http";
import { createContextKey, createContextValues, type Interceptor } from "@connectrpc/connect";
import express, { type Express, type Request } from "express";
import { expect, onTestFinished, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import { nodeListener } from "../../src/node/node-listener.js";
import { LibraryService } from "../gen/library/v1/library_pb.js";
import { libraryService } from "../support/library-service.js";
import { listen, type SendInit, sendHttp1 } from "../support/start-server.js";

const json = { "content-type": "application/json" };
const services = [{ service: LibraryService, implementation: libraryService }];
const rest = createRestHandler({ services });

test("a path without a route is left to the rest of the application, for each method", async () => {
  const app = express().use(nodeListener(rest));
  app.use((request, response) => void response.status(418).send(`${request.method} ${request.url}`));
  expect(await send(app, "PUT", "/nothing?x=1")).toMatchObject({ status: 418, text: "PUT /nothing?x=1" });
  expect(await send(app, "PUT", "/v1/books/x")).toMatchObject({ status: 405 });
  expect(await send(app, "GET", "/v1/books/x")).toMatchObject({ status: 200 });
});

test("a route of the application that comes first keeps its path", async () => {
  const app = express();
  app.get("/v1/books/own", (_request, response) => void response.send("own"));
  app.use(nodeListener(rest));
  expect(await send(app, "GET", "/v1/books/own")).toMatchObject({ text: "own" });
  expect(await send(app, "GET", "/v1/books/x")).toMatchObject({ text: expect.stringContaining('"name":"x"') });
});

test("a handler that is mounted at a path needs no basePath", async () => {
  const app = express().use("/api", nodeListener(rest));
  expect(await send(app, "GET", "/api/v1/books/x")).toMatchObject({ status: 200 });
  expect(await send(app, "GET", "/v1/books/x")).toMatchObject({ status: 404 });
});

test("a body that a parser read before is answered with an error that says so", async () => {
  const app = express().use(express.json(), nodeListener(rest));
  const answer = await send(app, "POST", "/v1/kinds", { headers: json, body: '{"id":"x"}' });
  expect(answer.status).toBe(500);
  expect(JSON.parse(answer.text)).toMatchObject({
    code: "INTERNAL",
    detail:
      "The body of the request was read before the REST handler got it. Register the handler before parsers of bodies.",
  });
  expect(await send(app, "GET", "/v1/books/x")).toMatchObject({ status: 200 });
});

test("context values can be made from what middleware adds to the request", async () => {
  const key = createContextKey("");
  const seen: string[] = [];
  const look: Interceptor = (next) => (request) => {
    seen.push(request.contextValues.get(key));
    return next(request);
  };
  const contextValues = (request: Request) => createContextValues().set(key, String(request.res?.locals["user"]));
  const app = express();
  app.use((_request, response, next) => {
    response.locals["user"] = "ana";
    next();
  });
  app.use(nodeListener(createRestHandler({ services, interceptors: [look] }), { contextValues }));
  await send(app, "GET", "/v1/books/x");
  expect(seen).toEqual(["ana"]);
});

async function send(app: Express, method: string, path: string, init?: SendInit) {
  const server = createServer((request, response) => void app(request, response));
  const port = await listen(server);
  onTestFinished(() => server.closeAllConnections());
  return sendHttp1(port, method, path, init);
}
