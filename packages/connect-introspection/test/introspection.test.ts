import { Code, ConnectError, createClient, createRouterTransport, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { Health, introspection, ServingStatus } from "../src/index.js";
import { LibraryService } from "./gen/library/v1/library_service_pb.js";
import { LoanService } from "./gen/library/v1/loan_service_pb.js";
import { library } from "./support/library.js";
import { protocols } from "./support/protocols.js";
import { servicesListed } from "./support/reflect.js";
import { startServer } from "./support/start-server.js";
import { watchStatus } from "./support/watch-status.js";

const own = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];
const all = [...own, LibraryService.typeName, LoanService.typeName];

/** Long enough for a busy machine. */
const patience = { timeout: 60_000, interval: 10 };

describe("the published services", () => {
  test.each([
    ["before", [library, introspection()]],
    ["after", [introspection(), library]],
  ])("are by default all that the router has, registered %s introspection", async (_, parts) => {
    const transport = createRouterTransport((router) => {
      for (const register of parts) register(router);
    });
    expect(await servicesListed(transport)).toEqual(all);
    expect(await healthNames(transport)).toEqual(["", ...all]);
  });

  test("can be chosen, and the others are then unknown", async () => {
    const transport = createRouterTransport((router) => {
      library(router);
      introspection({ services: [LibraryService] })(router);
    });
    expect(await servicesListed(transport)).toEqual([...own, LibraryService.typeName]);
    expect(await healthNames(transport)).toEqual(["", ...own, LibraryService.typeName]);
  });

  test("are those of one router each", async () => {
    const register = introspection();
    const first = createRouterTransport((router) => register(router).service(LibraryService, {}));
    const second = createRouterTransport((router) => register(router).service(LoanService, {}));
    expect(await servicesListed(first)).toEqual([...own, LibraryService.typeName]);
    expect(await servicesListed(second)).toEqual([...own, LoanService.typeName]);
  });
});

test("reflection can be left out, and health then does not list it", async () => {
  const transport = createRouterTransport(introspection({ reflection: false }));
  await expect(servicesListed(transport)).rejects.toMatchObject({ code: Code.Unimplemented });
  expect(await healthNames(transport)).toEqual(["", "grpc.health.v1.Health"]);
});

test("health can be left out, for a server with its own", async () => {
  const transport = createRouterTransport((router) => {
    introspection({ health: false })(router).service(Health, { check: () => ({ status: ServingStatus.UNKNOWN }) });
  });
  expect(await createClient(Health, transport).check({})).toMatchObject({ status: ServingStatus.UNKNOWN });
  expect(await servicesListed(transport)).toEqual(own);
});

describe("interceptors", () => {
  const refuse: Interceptor = () => () => Promise.reject(new ConnectError("no token", Code.Unauthenticated));

  test("of the router apply to health and reflection", async () => {
    const transport = createRouterTransport(introspection(), { router: { interceptors: [refuse] } });
    await expect(healthNames(transport)).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(servicesListed(transport)).rejects.toMatchObject({ code: Code.Unauthenticated });
  });

  test("can be replaced by others, or by none", async () => {
    const transport = createRouterTransport((router) => library(introspection({ interceptors: [] })(router)), {
      router: { interceptors: [refuse] },
    });
    expect(await healthNames(transport)).toEqual(["", ...all]);
    expect(await servicesListed(transport)).toEqual(all);
    const book = createClient(LibraryService, transport).getBook({ title: "One" });
    await expect(book).rejects.toMatchObject({ code: Code.Unauthenticated });
  });
});

describe("limits", () => {
  test("one stream more than the limit is refused, until another one ends", async () => {
    const transport = createGrpcTransport({ baseUrl: await startServer({ routes: introspection({ maxStreams: 2 }) }) });
    const open = [watchStatus(transport, ""), watchStatus(transport, "")];
    for (const watch of open) expect(await watch.next()).toBe(ServingStatus.SERVING);
    const refused = { code: Code.ResourceExhausted, rawMessage: "too many streams are open; close one first" };
    await expect(watchStatus(transport, "").next()).rejects.toMatchObject(refused);
    await expect(servicesListed(transport)).rejects.toMatchObject(refused);
    expect((await createClient(Health, transport).check({})).status).toBe(ServingStatus.SERVING);
    open[0]?.leave();
    await expect.poll(() => servicesListed(transport).catch(() => []), patience).toEqual(own);
  });

  test.each(Object.entries(protocols))(
    "streams over %s that end one after another do not count together",
    async (_, { transport, httpVersion }) => {
      const routes = introspection({ maxStreams: 1 });
      const used = transport(await startServer({ routes }, httpVersion));
      for (let i = 0; i < 5; i += 1) {
        await expect.poll(() => firstStatus(used), patience).toBe(ServingStatus.SERVING);
        if (httpVersion === "2") await expect.poll(() => servicesListed(used).catch(() => []), patience).toEqual(own);
      }
    },
  );

  test("a message of more than 64 KiB is refused", async () => {
    const transport = createGrpcTransport({ baseUrl: await startServer({ routes: introspection() }) });
    const check = createClient(Health, transport).check({ service: "x".repeat(64 * 1024) });
    await expect(check).rejects.toMatchObject({ code: Code.ResourceExhausted });
  });

  test("many watches of a server that can stop cause no warning of Node.js", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const stopping = new AbortController();
    const routes = introspection({ stopping: stopping.signal });
    const transport = createGrpcTransport({ baseUrl: await startServer({ routes }) });
    const watches = Array.from({ length: 20 }, () => watchStatus(transport, ""));
    for (const watch of watches) expect(await watch.next()).toBe(ServingStatus.SERVING);
    stopping.abort();
    for (const watch of watches) expect(await watch.next()).toBe(ServingStatus.NOT_SERVING);
    expect(warnings).toEqual([]);
  });

  test.each([{ maxStreams: 0 }, { maxStreams: 1.5 }, { watchIntervalMs: -1 }, { watchIntervalMs: Number.NaN }])(
    "%o is refused at the start",
    (options) => {
      const [[name, value] = []] = Object.entries(options);
      expect(() => introspection(options)).toThrow(new RangeError(`${name} must be a positive integer, not ${value}`));
    },
  );
});

/** Opens a watch and leaves it. Returns its first status, or undefined if it is refused. */
async function firstStatus(transport: Parameters<typeof watchStatus>[0]): Promise<ServingStatus | undefined> {
  const watch = watchStatus(transport, "");
  const status = await watch.next().catch(() => undefined);
  watch.leave();
  return status;
}

async function healthNames(transport: Parameters<typeof watchStatus>[0]): Promise<readonly string[]> {
  const { statuses } = await createClient(Health, transport).list({});
  return Object.keys(statuses).toSorted();
}
