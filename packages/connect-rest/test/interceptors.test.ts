import type { HandlerContext, Interceptor } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { LibraryService } from "./gen/library/v1/library_pb.js";
import { startServer } from "./support/start-server.js";

test("interceptors are applied once, at the first call, and share no request or header between calls", async () => {
  let applied = 0;
  const own: Interceptor = (next) => {
    applied += 1;
    return async (request) => {
      const response = await next(request);
      response.header.set("x-query", new URL(request.url, "http://host").search);
      return response;
    };
  };
  const { send } = await startServer({ interceptors: (method) => (method.name === "QueryKinds" ? [own] : []) });
  expect(applied).toBe(0);
  const answers = await Promise.all(["?flag=true", "?flag=false"].map((query) => send("GET", `/v1/kinds/x${query}`)));
  expect(answers.map(({ headers }) => headers["x-query"])).toEqual(["?flag=true", "?flag=false"]);
  expect(applied).toBe(1);
});

test("a function of interceptors that throws fails the call, and is called again for the next one", async () => {
  let calls = 0;
  const { send } = await startServer({
    interceptors: (method) => {
      if (method.name === "QueryKinds" && ++calls === 1) throw new Error("not ready");
      return [];
    },
  });
  const statuses = [];
  for (let n = 0; n < 3; n++) statuses.push((await send("GET", "/v1/kinds/x")).status);
  expect([statuses, calls]).toEqual([[500, 200, 200], 2]);
});

test("interceptors may answer with headers of their own, which replace those of the implementation", async () => {
  const implementation = {
    queryKinds: (request: { id: string }, { responseHeader }: HandlerContext) => {
      responseHeader.set("x-implementation", "set");
      return request;
    },
  };
  const replacing: Interceptor = (next) => async (request) => ({
    ...(await next(request)),
    header: new Headers({ "x-interceptor": "set" }),
  });
  const { send } = await startServer({
    services: [{ service: LibraryService, implementation }],
    interceptors: [replacing],
  });
  const { headers } = await send("GET", "/v1/kinds/x");
  expect(headers).toMatchObject({ "x-interceptor": "set" });
  expect(headers).not.toHaveProperty("x-implementation");
});
