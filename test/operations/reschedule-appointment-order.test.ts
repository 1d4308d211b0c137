import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as makers from "../contract/makers.js";
import { bookFirst, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { cancel, expectMoved, expectRefusal, type Move, prepareMove, tokenOf } from "./reschedule-appointment-moves.js";

/** A request before it is sent. Faults change parts of it, or of the world, that no other fault changes. */
interface Draft {
  readonly move: Move;
  /** The slot is one of this day, on which nothing else is booked. */
  readonly dates: JsonObject;
  readonly idempotencyKey: string;
  appointmentId: string;
  optionToken: string;
  /** How far the version that is expected is from the current one. */
  lag: number;
}

/** One thing that is wrong with a request, and what it is answered with when nothing comes before it. */
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

/** In the order in which they are found; of those that are found together none comes before another. */
const stages: readonly (readonly Fault[])[] = [
  [
    fault("a key that was used otherwise", 409, ["Idempotency-Key IDEMPOTENCY_KEY_REUSED"], async (draft) =>
      expectMoved(await prepareMove(service), { headers: { "idempotency-key": draft.idempotencyKey } }),
    ),
  ],
  [
    fault("an appointment that does not exist", 404, [], (draft) => {
      draft.appointmentId = randomUUID();
    }),
  ],
  [
    fault("a stale version", 409, ["expectedVersion STALE_VERSION"], (draft) => {
      draft.lag = 5;
    }),
  ],
  [
    fault("an appointment that is cancelled", 409, ["appointmentId STATE_NOT_ALLOWED"], ({ move }) =>
      cancel(move.clinic, move.appointment),
    ),
    fault("a patient who is not active", 409, ["appointmentId PATIENT_NOT_ACTIVE"], ({ move }) =>
      mustCall(move.clinic, "SetPatientStatus", {
        patientId: move.appointment.patientId,
        status: "INACTIVE",
        expectedVersion: 1,
      }),
    ),
  ],
  [
    fault("what is no token", 422, ["optionToken INVALID_OPTION"], (draft) => {
      draft.optionToken = "garbage";
    }),
  ],
  [
    fault("a token whose time is over", 410, [], () => service.advance(10 * 60_000)),
    fault("a slot that was withdrawn", 410, [], ({ move }) => withdraw(move)),
  ],
  [
    fault("a slot that somebody else has", 409, ["optionToken SLOT_OCCUPIED"], async ({ move, dates }) =>
      bookFirst(move.clinic, await makers.createPatient(service), dates),
    ),
    fault("a day whose capacity is used up", 409, ["optionToken CAPACITY_EXHAUSTED"], async ({ move, dates }) =>
      bookFirst(move.clinic, await makers.createPatient(service), dates, 4),
    ),
    fault("a patient who is expected elsewhere", 409, ["optionToken PATIENT_OVERLAP"], async ({ move, dates }) =>
      bookFirst(await openClinic(service), move.appointment.patientId, dates),
    ),
  ],
];

test("the request without a fault succeeds", async () => {
  const { move } = await makeDraft();
  await expectMoved(move);
});

test.each(pairsOf(stages))("$earlier.name comes before $later.name", async ({ earlier, later }) => {
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

test("a token for another appointment comes before a slot that was withdrawn", async () => {
  const { move, dates } = await makeDraft();
  const other = await bookFirst(move.clinic, await makers.createPatient(service), dateAfter(move, 4));
  const options = await optionsFor(move.clinic, { appointmentId: other.appointmentId, ...dates });
  expect(options[0]?.startsAt).toBe(move.options[0]?.startsAt);
  await withdraw(move);
  await expectRefusal(move, { optionToken: tokenOf({ options }) }, 422, ["optionToken INVALID_OPTION"]);
});

test("a token for another appointment comes before its time being over", async () => {
  const { move, dates } = await makeDraft();
  const other = await bookFirst(move.clinic, await makers.createPatient(service), dateAfter(move, 4));
  const options = await optionsFor(move.clinic, { appointmentId: other.appointmentId, ...dates });
  service.advance(10 * 60_000);
  await expectRefusal(move, { optionToken: tokenOf({ options }) }, 422, ["optionToken INVALID_OPTION"]);
});

test("a token that was used comes before the slot that the appointment has by it", async () => {
  const { move } = await makeDraft();
  await expectMoved(move);
  await expectRefusal(move, { expectedVersion: 2 }, 410);
});

test("a token that was used comes before a slot that somebody else has", async () => {
  const { move, dates } = await makeDraft();
  await expectMoved(move);
  await expectMoved({ ...move, options: await optionsOn(move, 4) }, { expectedVersion: 2 });
  const other = await bookFirst(move.clinic, await makers.createPatient(service), dates);
  expect(other.startsAt).toBe(move.options[0]?.startsAt);
  await expectRefusal(move, { expectedVersion: 3 }, 410);
});

function fault(name: string, status: number, items: readonly string[], inflict: Fault["inflict"]): Fault {
  return { name, status, items, inflict };
}

/** Every fault with each of the stages after its own. */
function pairsOf(all: readonly (readonly Fault[])[]): { earlier: Fault; later: Fault }[] {
  return all.flatMap((stage, i) => {
    const after = all.slice(i + 1).flat();
    return stage.flatMap((earlier) => after.map((each) => ({ earlier, later: each })));
  });
}

/** A request that moves an appointment to the first slot of another day, which has the capacity for no more. */
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

/** Has the rule begin an hour later, which withdraws the first slots of every day. */
async function withdraw({ clinic }: Move): Promise<void> {
  const { programId, ruleId } = clinic;
  const change = { programId, ruleId, expectedVersion: 1, startsAtLocal: "09:00:00" };
  await mustCall(clinic, "UpdateProgramRule", change);
}
