import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
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

const clients = Object.values(transports).map(
  (createTransport) => (url: string) => createClient(Health, createTransport(url)),
);

describe.each(Object.entries(transports))("health over %s without a token", (_, createTransport) => {
  const health = () => createClient(Health, createTransport(service.internalUrl));

  test("reports the whole server and each service", async () => {
    const names = ["", ...servedServices.map(({ service: { typeName } }) => typeName)];
    await vi.waitFor(async () => {
      const { statuses } = await health().list({});
      for (const name of names) expect(statuses[name]).toMatchObject({ status: Status.SERVING });
    }, patience);
    for (const name of names)
      await eventually(async () => (await health().check({ service: name })).status === Status.SERVING);
  });

  test("is not_found for an unknown service, and SERVICE_UNKNOWN to a watch", async () => {
    const error = await health()
      .check({ service: "cupo.access.v1.NoService" })
      .catch((reason: unknown) => reason);
    expect(ConnectError.from(error).code).toBe(Code.NotFound);
    const { watched, leave } = watch(health(), "cupo.access.v1.NoService");
    expect(await watched()).toBe(Status.SERVICE_UNKNOWN);
    leave();
  });
});

test("health over every transport follows readiness down and up, and notifies watches", async () => {
  const watches = clients.map((open) => watch(open(service.internalUrl), PatientService.typeName));
  const allReport = (status: Status) =>
    Promise.all(watches.map(({ watched }) => eventually(async () => (await watched()) === status)));
  await allReport(Status.SERVING);
  service.proxy.setDown(true);
  await allReport(Status.NOT_SERVING);
  for (const open of clients)
    expect(await open(service.internalUrl).check({})).toMatchObject({ status: Status.NOT_SERVING });
  expect((await fetch(`${service.internalUrl}/readyz`)).status).toBe(503);
  service.proxy.setDown(false);
  await allReport(Status.SERVING);
  await eventually(async () => (await fetch(`${service.internalUrl}/readyz`)).status === 200);
  for (const { leave } of watches) leave();
});

test("a watch over every transport is notified when the service stops", async () => {
  const own = await startTestService({}, { isProxied: true });
  const watches = clients.map((open) => watch(open(own.internalUrl), ""));
  await Promise.all(watches.map(({ watched }) => eventually(async () => (await watched()) === Status.SERVING)));
  const stopped = own.close();
  for (const { watched } of watches) {
    expect(await watched()).toBe(Status.NOT_SERVING);
    expect(await watched()).toBeUndefined();
  }
  await stopped;
});

function watch(health: Client<typeof Health>, name: string) {
  const leaving = new AbortController();
  const stream = health.watch({ service: name }, { signal: leaving.signal })[Symbol.asyncIterator]();
  return { watched: async () => (await stream.next()).value?.status, leave: () => leaving.abort() };
}
