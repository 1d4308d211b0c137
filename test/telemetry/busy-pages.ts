import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { startKeyServer } from "../auth/key-server.js";
import { keySetDocument, makeKey } from "../auth/token-fixtures.js";
import { eventually } from "../support/eventually.js";
import { registration } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { type MetricsPage, readMetrics } from "./metrics-page.js";

/** Returns the metrics pages of services that did a little of everything, so that every metric occurs. */
export async function readBusyPages(): Promise<readonly MetricsPage[]> {
  return [await withService({}, busyPage), await withRealIssuer()];
}

/** Makes a service do a little of everything, behind a proxy. Returns its metrics page once all of it was counted. */
export async function busyPage(service: TestService): Promise<MetricsPage> {
  const headers = { "idempotency-key": randomUUID() };
  const body = registration();
  for (const sent of [body, body, registration()]) await service.request("POST", "/patients", { headers, body: sent });
  await service.request("POST", "/patients", { body: {} });
  await callRpc(service, PatientService.method.registerPatient, {});
  await watchBriefly(service);
  service.proxy.setDown(true);
  await service.request("POST", "/patients", { body: registration() });
  await callRpc(service, PatientService.method.registerPatient, { ...registration() });
  await watchBriefly(service).catch(() => undefined);
  service.proxy.setDown(false);
  const page = () => readMetrics(service.internalUrl);
  await eventually(async () => {
    const { sum } = await page();
    const fault = { error_type: "SERVICE_UNAVAILABLE" };
    const seen = [
      sum("http_server_requests_total", fault),
      sum("rpc_server_calls_total", fault),
      sum("cupo_stream_duration_seconds_count", fault),
      sum("cupo_idempotency_replays_total"),
      sum("cupo_jobs_waiting"),
    ];
    return seen.every((value) => value !== undefined);
  });
  return page();
}

async function watchBriefly(service: TestService): Promise<void> {
  const end = new AbortController();
  const client = createClient(EventService, createGrpcTransport({ baseUrl: service.internalUrl }));
  const headers = { authorization: `Bearer ${await service.token()}` };
  await client.watchEvents({}, { headers, signal: end.signal })[Symbol.asyncIterator]().next();
  await fetch(`${service.internalUrl}/api/clinic/v1/events:watch`, { headers, signal: end.signal });
  end.abort();
}

async function withRealIssuer(): Promise<MetricsPage> {
  const keys = await startKeyServer(keySetDocument(makeKey("ES256", "first").publicJwk));
  const environment = {
    AUTH_ISSUER: "https://issuer.example.org",
    AUTH_AUDIENCE: "cupo",
    AUTH_JWKS_URL: keys.url,
    PUBLIC_URL: "https://cupo.example.org",
  };
  try {
    return await withService(environment, async ({ internalUrl }) => {
      await eventually(async () => (await readMetrics(internalUrl)).sum("cupo_keyset_age_seconds") !== undefined);
      return readMetrics(internalUrl);
    });
  } finally {
    await keys.close();
  }
}

async function withService<T>(
  environment: Readonly<Record<string, string>>,
  work: (service: TestService) => Promise<T>,
): Promise<T> {
  const service = await startTestService(environment, { isProxied: true });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
