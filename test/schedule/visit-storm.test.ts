import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { startTestService, type TestService } from "../support/service.js";
import {
  type AppointmentBody,
  awaitStep,
  bookFirst,
  type Clinic,
  call,
  day,
  openClinic,
  optionsFor,
} from "./clinic.js";
import { countDeadlocks, detectDeadlocksEarly } from "./deadlocks.js";
import { everythingBroken } from "./invariants.js";
import { pick } from "./storm-context.js";

const CALLERS = 8;
const TURNS = 60;
/** One appointment per practitioner at each of these times. All have begun when the storm starts. */
const BEGUN = [0, 1, 2];
const SLACK_MS = 180_000;
/** Steps that succeed on one appointment in this order, independent of the random calls on others. */
const EACH = [
  "CheckInAppointment",
  "MarkAppointmentAttended",
  "CorrectAppointmentStatus",
  "CorrectAppointmentStatus",
  "MarkAppointmentNoShow",
];

type Step = (appointment: AppointmentBody) => Promise<JsonObject>;

let database: TestDatabase;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  await detectDeadlocksEarly(database.adminUrl);
  service = await startTestService({ DATABASE_URL: database.url });
}, SLACK_MS);

afterAll(() => database.drop(), SLACK_MS);

test(
  "concurrent steps, corrections, cancellations and bookings of one day break no invariant",
  async () => {
    const clinic = await openDay();
    const appointments = new Map<string, AppointmentBody>();
    const [own, second] = await fill(clinic, appointments);
    const steps = await stepsOf();
    const answers = new Set<string>();
    const broken = new Set<string>();
    const take = async (appointment: AppointmentBody, rpc: string) => {
      const { appointmentId, version: expectedVersion } = appointment;
      const answer = await call(clinic, rpc, { appointmentId, expectedVersion, ...(await steps[rpc]?.(appointment)) });
      answers.add(`${rpc} ${answer.status}`);
      const now = answer.status === 200 ? answer : await call(clinic, "GetAppointment", { appointmentId });
      return now.body["appointment"] as AppointmentBody;
    };
    const takeAny = async () => {
      const appointment = pick([...appointments.values()]);
      const rpc = pick(Object.keys(steps));
      if (appointment === undefined || rpc === undefined) return;
      appointments.set(appointment.appointmentId, await take(appointment, rpc));
    };
    const takeEach = async () => {
      let appointment = own;
      for (const rpc of EACH) appointment = await take(appointment, rpc);
      await take(await take(second, "CancelAppointment"), "CorrectAppointmentStatus");
    };
    const caller = async () => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        if (turn % 20 === 10) for (const name of await everythingBroken(service)) broken.add(name);
        if (randomInt(4) === 0) await bookLater(clinic, appointments);
        else await takeAny();
      }
    };
    await Promise.all([takeEach(), ...Array.from({ length: CALLERS }, caller)]);
    for (const name of await everythingBroken(service)) broken.add(name);
    expect([...broken]).toEqual([]);
    expect([...answers].filter((answer) => / 5\d\d$/.test(answer))).toEqual([]);
    const done = [...Object.keys(steps).map((rpc) => `${rpc} 200`), "CorrectAppointmentStatus 409"];
    expect([...answers]).toEqual(expect.arrayContaining(done));
    await service.close();
    expect(await countDeadlocks(database.adminUrl)).toBe(0);
  },
  SLACK_MS,
);

/** Opens a clinic whose daily capacity is the number of early appointments, and one more. */
async function openDay(): Promise<Clinic> {
  const practitionerIds = await Promise.all(BEGUN.map(() => fixtures.practitioner.create(service, {})));
  const dailyCapacity = BEGUN.length * practitionerIds.length + 1;
  return openClinic(service, { practitionerIds, rule: { dailyCapacity } });
}

/**
 * Books the first hours of the day, then advances the clock until all of these appointments can be marked as no-shows.
 * Returns two of them, which are not in `appointments`, so that no random call changes them.
 */
async function fill(
  clinic: Clinic,
  appointments: Map<string, AppointmentBody>,
): Promise<readonly [AppointmentBody, AppointmentBody]> {
  const book = async () => bookFirst(clinic, await fixtures.createPatient(service));
  const two = [await book(), await book()] as const;
  let last = two[1];
  for (let i = two.length; i < BEGUN.length * clinic.practitionerIds.length; i += 1) {
    last = await book();
    appointments.set(last.appointmentId, last);
  }
  awaitStep(clinic, "MarkAppointmentNoShow", last);
  return two;
}

/**
 * Returns the members that each step sends, besides appointment and version. A correction restores an earlier status.
 */
async function stepsOf(): Promise<Readonly<Record<string, Step>>> {
  const noShowReasonId = await fixtures.noShowReason.create(service, {});
  const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
  return {
    CheckInAppointment: async () => ({}),
    MarkAppointmentAttended: async () => ({}),
    MarkAppointmentNoShow: async () => ({ noShowReasonId }),
    CorrectAppointmentStatus: async ({ status }) => ({
      status: status === "ATTENDED" ? "CHECKED_IN" : "CONFIRMED",
      reason: "Se marcó a otra persona.",
    }),
    CancelAppointment: async () => ({ cancellationReasonId }),
  };
}

/**
 * Books a free slot later in the day for a random patient. Uses the capacity that a no-show or cancellation restored.
 */
async function bookLater(clinic: Clinic, appointments: Map<string, AppointmentBody>): Promise<void> {
  const patientId = pick([...appointments.values()])?.patientId ?? "";
  const dates = { dateFrom: day(clinic, 0), dateTo: day(clinic, 0) };
  const option = pick(await optionsFor(clinic, { patientId, ...dates }));
  if (option === undefined) return;
  const { requestSourceId, appointmentTypeId } = clinic;
  const request = { patientId, optionToken: option.optionToken, requestSourceId, appointmentTypeId };
  const { status, body } = await call(clinic, "BookAppointment", request);
  const booked = body["appointment"] as AppointmentBody;
  if (status === 200) appointments.set(booked.appointmentId, booked);
}
