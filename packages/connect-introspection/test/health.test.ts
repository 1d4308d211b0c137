import { Code, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Health, type IntrospectionOptions, introspection, ServingStatus } from "../src/index.js";
import { LibraryService } from "./gen/library/v1/library_service_pb.js";
import { LoanService } from "./gen/library/v1/loan_service_pb.js";
import { library } from "./support/library.js";
import { protocols } from "./support/protocols.js";
import { startServer } from "./support/start-server.js";
import { watchStatus } from "./support/watch-status.js";

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = ServingStatus;
const own = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];
const names = ["", LibraryService.typeName, LoanService.typeName, ...own];

describe.each(Object.entries(protocols))("health over %s", (_, { httpVersion, transport }) => {
  async function start(options: IntrospectionOptions = {}) {
    const routes = (router: Parameters<typeof library>[0]) => {
      library(router);
      introspection(options)(router);
    };
    return transport(await startServer({ routes }, httpVersion));
  }

  test("is SERVING for the server and each service by default", async () => {
    const health = createClient(Health, await start());
    for (const service of names) expect(await health.check({ service })).toMatchObject({ status: SERVING });
    const { statuses } = await health.list({});
    expect(Object.keys(statuses).toSorted()).toEqual(names.toSorted());
    expect(new Set(Object.values(statuses).map(({ status }) => status))).toEqual(new Set([SERVING]));
  });

  test("is not_found for an unknown service, and SERVICE_UNKNOWN to a watch, which stays open", async () => {
    const used = await start({ watchIntervalMs: 1 });
    await expect(createClient(Health, used).check({ service: "library.v1.Unknown" })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: "this server has no service of this name",
    });
    const watch = watchStatus(used, "library.v1.Unknown");
    expect(await watch.next()).toBe(SERVICE_UNKNOWN);
    const next = watch.next();
    const other = watchStatus(used, "");
    expect(await Promise.race([next, other.next()])).toBe(SERVING);
    watch.leave();
    await expect(next).rejects.toMatchObject({ code: Code.Canceled });
  });

  test("follows the server, and notifies watches of each change", async () => {
    let isServing = true;
    const used = await start({ isServing: () => isServing, watchIntervalMs: 10 });
    const health = createClient(Health, used);
    const watch = watchStatus(used, LoanService.typeName);
    for (const expected of [SERVING, NOT_SERVING, SERVING]) {
      isServing = expected === SERVING;
      expect(await watch.next()).toBe(expected);
      expect(await health.check({})).toMatchObject({ status: expected });
    }
  });

  test("can differ by service", async () => {
    const used = await start({ isServiceServing: async (service) => service !== LoanService.typeName });
    const { statuses } = await createClient(Health, used).list({});
    const down = Object.keys(statuses).filter((name) => statuses[name]?.status === NOT_SERVING);
    expect(down).toEqual([LoanService.typeName]);
    expect(await watchStatus(used, LoanService.typeName).next()).toBe(NOT_SERVING);
    expect(await watchStatus(used, LibraryService.typeName).next()).toBe(SERVING);
  });

  test("tells a watch that the server stops, and ends it", async () => {
    const stopping = new AbortController();
    const used = await start({ stopping: stopping.signal });
    const watch = watchStatus(used, "");
    expect(await watch.next()).toBe(SERVING);
    stopping.abort();
    expect(await watch.next()).toBe(NOT_SERVING);
    expect(await watch.next()).toBeUndefined();
    expect(await createClient(Health, used).check({})).toMatchObject({ status: NOT_SERVING });
    const late = watchStatus(used, "");
    expect([await late.next(), await late.next()]).toEqual([NOT_SERVING, undefined]);
  });
});
