import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { Health, ServingStatus as Status } from "@cupo/connect-introspection";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { servedServices } from "../../src/services/services.js";
import { eventually, patience } from "../support/eventually.js";
import { transports } from "../support/rpc-clients.js";
import { startTestService, type TestService } from "../support/service.js";

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
});

afterAll(() => service.close());

describe.each(Object.entries(transports))("health over %s without a token", (_, createTransport) => {
  const health = () => createClient(Health, createTransport(service.internalUrl));

  test("reports the whole server and each service", async () => {
    const names = ["", ...servedServices.map(({ service: { typeName } }) => typeName)];
    await vi.waitFor(async () => {
      const { statuses } = await health().list({});
      for (const name of names) expect(statuses[name]).toMatchObject({ status: Status.SERVING });
    }, patience);
    for (const name of names) await eventually(() => isServing(name));
  });

  test("is not_found for an unknown service, and SERVICE_UNKNOWN to a watch", async () => {
    const error = await health()
      .check({ service: "cupo.access.v1.NoService" })
      .catch((reason: unknown) => reason);
    expect(ConnectError.from(error).code).toBe(Code.NotFound);
    const { watched, leave } = watch("cupo.access.v1.NoService");
    expect(await watched()).toBe(Status.SERVICE_UNKNOWN);
    leave();
  });

  test("follows readiness down and up, and notifies watches", async () => {
    const { watched, leave } = watch(PatientService.typeName);
    await eventually(async () => (await watched()) === Status.SERVING);
    service.proxy.setDown(true);
    await eventually(async () => (await watched()) === Status.NOT_SERVING);
    expect(await health().check({})).toMatchObject({ status: Status.NOT_SERVING });
    expect((await fetch(`${service.internalUrl}/readyz`)).status).toBe(503);
    service.proxy.setDown(false);
    await eventually(async () => (await watched()) === Status.SERVING);
    await eventually(async () => (await fetch(`${service.internalUrl}/readyz`)).status === 200);
    leave();
  });

  async function isServing(name: string): Promise<boolean> {
    return (await health().check({ service: name })).status === Status.SERVING;
  }

  function watch(name: string) {
    const leaving = new AbortController();
    const stream = health().watch({ service: name }, { signal: leaving.signal })[Symbol.asyncIterator]();
    return { watched: async () => (await stream.next()).value?.status, leave: () => leaving.abort() };
  }
});

test.each(Object.entries(transports))(
  "a watch over %s is notified when the service stops",
  async (_, createTransport) => {
    const own = await startTestService({}, { isProxied: true });
    const statuses: Status[] = [];
    const health = createClient(Health, createTransport(own.internalUrl));
    let stopped: Promise<void> | undefined;
    for await (const { status } of health.watch({})) {
      statuses.push(status);
      if (status === Status.SERVING) stopped ??= own.close();
    }
    await stopped;
    expect(statuses).toContain(Status.SERVING);
    expect(statuses.at(-1)).toBe(Status.NOT_SERVING);
  },
);
