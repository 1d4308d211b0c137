import { randomInt, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPatient } from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { type AppointmentBody, bookFirst, type Clinic, day, openClinic, optionsFor } from "../schedule/clinic.js";
import { everythingBroken } from "../schedule/invariants.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { strikeAt } from "./struck-statement.js";

/** Every how many statements one is struck, from a random start. EVERY_STATEMENT=1 strikes each statement. */
const STRIDE = process.env["EVERY_STATEMENT"] ? 1 : 7;
const FEWEST_STATEMENTS = 10;

type Headers = Readonly<Record<string, string>>;
/** Sends the same request each time, with these headers. */
type Send = (headers: Headers) => Promise<RestAnswer>;

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService({}, { isProxied: true });
  clinic = await openClinic(service, { rule: { validTo: day({ service }, 20) } });
  patientId = await createPatient(service);
});

afterAll(() => service.close());

const works: Readonly<Record<string, () => Promise<() => Promise<Send>>>> = {
  "a booking": async () => async () => {
    const { requestSourceId, appointmentTypeId } = clinic;
    const optionToken = await findOption({ patientId });
    const request = { patientId, optionToken, requestSourceId, appointmentTypeId };
    return (headers) => callRpc(service, rpcNamed("BookAppointment"), request, { headers });
  },
  "a move": async () => {
    const moved: AppointmentBody = await bookFirst(clinic, await createPatient(service), anyDay());
    const { appointmentId } = moved;
    let version = moved.version;
    return async () => {
      const body = { optionToken: await findOption({ appointmentId }), expectedVersion: version++ };
      return (headers) => service.request("POST", `/appointments/${appointmentId}/reschedule`, { headers, body });
    };
  },
  "a change of a rule": async () => {
    const { programId, ruleId } = await openClinic(service, { rule: { validTo: day({ service }, 2) } });
    const path = `/admin/configuration/scheduling/programs/${programId}/rules/${ruleId}`;
    let version = 1;
    return async () => {
      const body = { startsAtLocal: version % 2 === 1 ? "09:00:00" : "08:00:00", expectedVersion: version++ };
      return (headers) => service.request("PATCH", path, { headers, body });
    };
  },
};

describe.each(Object.entries(works))("%s whose backend is terminated", (_, begin) => {
  test("is executed once and its key replays, whichever statement is struck", async () => {
    const next = await begin();
    const traces = new Set<number>();
    let statement = 1 + randomInt(STRIDE);
    for (; await isDoneOnce(await next(), statement, traces); statement += STRIDE);
    expect(statement).toBeGreaterThan(FEWEST_STATEMENTS);
    expect(traces.size).toBe(1);
    expect(await everythingBroken(service)).toEqual([]);
  });
});

/** Sends a request, strikes one of its statements and sends it again. Returns whether it had that many statements. */
async function isDoneOnce(send: Send, statement: number, traces: Set<number>): Promise<boolean> {
  const correlationId = randomUUID();
  const headers = { "idempotency-key": randomUUID(), "x-correlation-id": correlationId };
  const strike = strikeAt(service, statement);
  const answer = await send(headers);
  const isStruck = await strike.end();
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const again = await send({ ...headers, "x-correlation-id": randomUUID() });
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([answer.text, "true"]);
  const rows = await service.query(`SELECT FROM audit_events WHERE correlation_id = '${correlationId}'`);
  traces.add(rows.length);
  return isStruck;
}

async function findOption(subject: { patientId: string } | { appointmentId: string }): Promise<string> {
  const [option] = await optionsFor(clinic, { ...subject, ...anyDay() });
  if (option === undefined) throw new Error("there is nothing left to be booked");
  return option.optionToken;
}

function anyDay() {
  return { dateFrom: day(clinic, 2), dateTo: day(clinic, 19) };
}
