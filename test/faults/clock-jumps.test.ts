import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPatient } from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { appointmentIn, type Clinic, day, openClinic, optionsFor } from "../schedule/clinic.js";
import { everythingBroken } from "../schedule/invariants.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * Jumps in milliseconds: seconds back (a time correction), hours back (a wrong time zone), days back (a restored
 * machine), and forwards.
 */
const JUMPS_MS = [-3_000, HOUR_MS, -2 * HOUR_MS, 49 * HOUR_MS, -72 * HOUR_MS, 24 * HOUR_MS];

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service, { rule: { validTo: day({ service }, 12) } });
});

afterAll(() => service.close());

test("clock jumps forwards and backwards lose nothing, repeat nothing and leave consistent bookings", async () => {
  const done: { readonly send: () => Promise<RestAnswer>; readonly text: string }[] = [];
  const once = async (send: () => Promise<RestAnswer>) => {
    const answer = await send();
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
    done.push({ send, text: answer.text });
    return answer;
  };
  for (const jumpMs of [0, ...JUMPS_MS]) {
    service.advance(jumpMs);
    await once(keyed("RegisterPatient", { ...registration() }));
    const patientId = await createPatient(service);
    const booked = appointmentIn(await once(await booking(patientId)));
    const { appointmentId } = booked;
    const confirmed = appointmentIn(
      await once(keyed("ConfirmAppointment", { appointmentId, expectedVersion: booked.version })),
    );
    expect(confirmed.version).toBe(booked.version + 1);
    for (const { send, text } of done) {
      const again = await send();
      expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([text, "true"]);
    }
  }
  expect(await everythingBroken(service)).toEqual([]);
});

async function booking(patientId: string): Promise<() => Promise<RestAnswer>> {
  const dates = { dateFrom: day(clinic, 3), dateTo: day(clinic, 8) };
  const [option] = await optionsFor(clinic, { patientId, ...dates });
  const { requestSourceId, appointmentTypeId } = clinic;
  return keyed("BookAppointment", {
    patientId,
    optionToken: `${option?.optionToken}`,
    requestSourceId,
    appointmentTypeId,
  });
}

function keyed(rpc: string, request: Parameters<typeof callRpc>[2]): () => Promise<RestAnswer> {
  const headers = { "idempotency-key": randomUUID() };
  return () => callRpc(service, rpcNamed(rpc), request, { headers });
}
