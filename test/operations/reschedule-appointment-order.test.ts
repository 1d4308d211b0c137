import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { cancel, expectMoved, expectRefusal, type Move, prepareMove, tokenOf } from "./reschedule-appointment-moves.js";

/** A request before it is sent. Each fault changes another part of it or of the stored data. */
interface Draft {
  readonly move: Move;
  /** The day of the slot. Nothing else is booked on it. */
  readonly dates: JsonObject;
  readonly idempotencyKey: string;
  appointmentId: string;
  optionToken: string;
  /** Difference between the expected version and the current one. */
  lag: number;
}

/** One defect of a request, and the answer to it if there is no earlier one. */
interface Fault {
  readonly name: string;
  readonly status: number;
  readonly items: readonly string[];
  inflict(draft: Draft): Promise<unknown> | void;
}

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

/** The stages of checks, in order. Faults of one stage are reported together. */
const stages: readonly (readonly Fault[])[] = [
  [
    fault("a key used with another request", 409, ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"], async (draft) =>
      expectMoved(await prepareMove(service), { headers: { "idempotency-key": draft.idempotencyKey } }),
    ),
  ],
  [
    fault("an unknown appointment", 404, [], (draft) => {
      draft.appointmentId = randomUUID();
    }),
  ],
  [
    fault("a stale version", 409, ["expectedVersion STALE_VERSION"], (draft) => {
      draft.lag = 5;
    }),
  ],
  [
    fault("a cancelled appointment", 409, ["appointmentId STATE_NOT_ALLOWED"], ({ move }) =>
      cancel(move.clinic, move.appointment),
    ),
    fault("an inactive patient", 409, ["appointmentId PATIENT_NOT_ACTIVE"], ({ move }) =>
      mustCall(move.clinic, "SetPatientStatus", {
        patientId: move.appointment.patientId,
        status: "INACTIVE",
        expectedVersion: 1,
      }),
    ),
  ],
  [
    fault("text that is not a token", 422, ["optionToken INVALID_OPTION"], (draft) => {
      draft.optionToken = "garbage";
    }),
  ],
  [
    fault("a token whose time is over", 410, [], () => service.advance(10 * 60_000)),
    fault("a slot that was withdrawn", 410, [], ({ move }) => withdraw(move)),
  ],
  [
    fault("an occupied slot", 409, ["optionToken SLOT_OCCUPIED"], async ({ move, dates }) =>
      bookFirst(move.clinic, await fixtures.createPatient(service), dates),
    ),
    fault("a day whose capacity is used up", 409, ["optionToken CAPACITY_EXHAUSTED"], async ({ move, dates }) =>
      bookFirst(move.clinic, await fixtures.createPatient(service), dates, 4),
    ),
    fault("a patient with another appointment then", 409, ["optionToken PATIENT_OVERLAP"], async ({ move, dates }) =>
      bookFirst(await openClinic(service), move.appointment.patientId, dates),
    ),
  ],
];

test("a request without a fault succeeds", async () => {
  const { move } = await makeDraft();
  await expectMoved(move);
});

test.each(pairsOf(stages))("$earlier.name is reported before $later.name", async ({ earlier, later }) => {
  const draft = await makeDraft();
  await later.inflict(draft);
  await earlier.inflict(draft);
  const { move, appointmentId, optionToken, lag, idempotencyKey } = draft;
  const { appointment } = await mustCall(move.clinic, "GetAppointment", {
    appointmentId: move.appointment.appointmentId,
  });
  const expectedVersion = Number((appointment as JsonObject)["version"]) + lag;
  const headers = { "idempotency-key": idempotencyKey };
  const changes = { appointmentId, optionToken, expectedVersion, headers };
  await expectRefusal(move, changes, earlier.status, earlier.items);
});

test("a token for another appointment is reported before a withdrawn slot", async () => {
  const { move, dates } = await makeDraft();
  const other = await bookFirst(move.clinic, await fixtures.createPatient(service), dateAfter(move, 4));
  const options = await optionsFor(move.clinic, { appointmentId: other.appointmentId, ...dates });
  expect(options[0]?.startsAt).toBe(move.options[0]?.startsAt);
  await withdraw(move);
  await expectRefusal(move, { optionToken: tokenOf({ options }) }, 422, ["optionToken INVALID_OPTION"]);
});

test("a token for another appointment is reported before its expiry", async () => {
  const { move, dates } = await makeDraft();
  const other = await bookFirst(move.clinic, await fixtures.createPatient(service), dateAfter(move, 4));
  const options = await optionsFor(move.clinic, { appointmentId: other.appointmentId, ...dates });
  service.advance(10 * 60_000);
  await expectRefusal(move, { optionToken: tokenOf({ options }) }, 422, ["optionToken INVALID_OPTION"]);
});

test("a used token is reported before the same slot, which the appointment has by it", async () => {
  const { move } = await makeDraft();
  await expectMoved(move);
  await expectRefusal(move, { expectedVersion: 2 }, 410);
});

test("a used token is reported before an occupied slot", async () => {
  const { move, dates } = await makeDraft();
  await expectMoved(move);
  await expectMoved({ ...move, options: await optionsOn(move, 4) }, { expectedVersion: 2 });
  const other = await bookFirst(move.clinic, await fixtures.createPatient(service), dates);
  expect(other.startsAt).toBe(move.options[0]?.startsAt);
  await expectRefusal(move, { expectedVersion: 3 }, 410);
});

function fault(name: string, status: number, items: readonly string[], inflict: Fault["inflict"]): Fault {
  return { name, status, items, inflict };
}

/** Returns each fault paired with each fault of a later stage. */
function pairsOf(all: readonly (readonly Fault[])[]): { earlier: Fault; later: Fault }[] {
  return all.flatMap((stage, i) => {
    const after = all.slice(i + 1).flat();
    return stage.flatMap((earlier) => after.map((each) => ({ earlier, later: each })));
  });
}

/** Prepares a move to the first slot of another day, with a daily capacity of one. */
async function makeDraft(): Promise<Draft> {
  const move = await prepareMove(service, { rule: { dailyCapacity: 1 }, days: 3 });
  return {
    move,
    dates: dateAfter(move, 3),
    idempotencyKey: randomUUID(),
    appointmentId: move.appointment.appointmentId,
    optionToken: tokenOf(move),
    lag: 0,
  };
}

function optionsOn(move: Move, days: number): Promise<Move["options"]> {
  return optionsFor(move.clinic, { appointmentId: move.appointment.appointmentId, ...dateAfter(move, days) });
}

function dateAfter({ clinic }: Move, days: number): JsonObject {
  return { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
}

/** Starts the rule an hour later, which withdraws the first slots of each day. */
async function withdraw({ clinic }: Move): Promise<void> {
  const { programId, ruleId } = clinic;
  const change = { programId, ruleId, expectedVersion: 1, startsAtLocal: "09:00:00" };
  await mustCall(clinic, "UpdateProgramRule", change);
}
