import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { paths as Access } from "./access.js";
import type { paths as Clinic } from "./clinic.js";

const serviceId = "a455bc8a-233a-5c14-82a9-40055e5894fa";
const appointmentTypeId = "76010db7-bb34-5073-998a-aee7e1f215da";
const requestSourceId = "6dd58654-4986-5c1d-9b28-f04a2d444c16";
const cancellationReasonId = "7d6a6ce8-5c49-5da2-8d13-860d4a07beb9";
const ATTEMPTS = 4;

/** Sends a request, and again with the same key where the answer says when or did not come. */
async function repeated(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(request.clone()).catch(() => undefined);
    const seconds = answer === undefined ? "1" : answer.headers.get("retry-after");
    if (answer !== undefined && (seconds === null || attempt === ATTEMPTS)) return answer;
    if (attempt === ATTEMPTS) throw new Error("the service cannot be reached");
    await delay(Number(seconds) * 1_000);
  }
}

const headers = { Authorization: `Bearer ${process.env["TOKEN"] ?? ""}` };
const access = createClient<Access>({
  baseUrl: process.env["CUPO_PUBLIC"] ?? "http://127.0.0.1:8080/api/external/v1",
  fetch: repeated,
  headers,
});
const clinic = createClient<Clinic>({
  baseUrl: process.env["CUPO_INTERNAL"] ?? "http://127.0.0.1:9090",
  fetch: repeated,
  headers,
});
type SearchQuery = Clinic["/api/clinic/v1/appointment-options"]["get"]["parameters"]["query"];
const withKey = () => ({ header: { "Idempotency-Key": randomUUID() } });

const patient = dataOf(
  await access.POST("/patients", {
    params: withKey(),
    body: {
      documentType: "CC",
      documentNumber: String(randomInt(10_000_000, 2_000_000_000)),
      fullName: "Ana María Pérez",
      phone: "+57 300 555 0100",
      consentGrantedAt: new Date().toISOString(),
    },
  }),
);
console.log(`registered ${patient.id}`);

const wish = { serviceId, dateFrom: dayFromNow(1), dateTo: dayFromNow(30) };
const booked = dataOf(
  await clinic.POST("/api/clinic/v1/appointments", {
    params: withKey(),
    body: {
      optionToken: await firstOption({ ...wish, patientId: patient.id, appointmentTypeId }),
      patientId: patient.id,
      appointmentTypeId,
      requestSourceId,
    },
  }),
);
const { appointmentId } = booked;
console.log(`booked ${appointmentId} at ${booked.startsAt}`);

const path = { appointmentId };
const read = dataOf(await clinic.GET("/api/clinic/v1/appointments/{appointmentId}", { params: { path } }));
const moved = dataOf(
  await access.POST("/appointments/{appointmentId}/reschedule", {
    params: { ...withKey(), path },
    body: { optionToken: await firstOption({ ...wish, appointmentId }), expectedVersion: read.version },
  }),
);
console.log(`moved to ${moved.startsAt}, version ${moved.version}`);

const cancelled = dataOf(
  await clinic.POST("/api/clinic/v1/appointments/{appointmentId}:cancel", {
    params: { ...withKey(), path },
    body: { expectedVersion: moved.version, cancellationReasonId },
  }),
);
console.log(`${cancelled.status}, version ${cancelled.version}`);

async function firstOption(query: SearchQuery): Promise<string> {
  const { options } = dataOf(await clinic.GET("/api/clinic/v1/appointment-options", { params: { query } }));
  return options[0]?.optionToken ?? "";
}

function dataOf<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(`${response.status}: ${JSON.stringify(error)}`);
  return data;
}

/** A date of Bogotá, as YYYY-MM-DD. */
function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toLocaleDateString("sv", { timeZone: "America/Bogota" });
}
