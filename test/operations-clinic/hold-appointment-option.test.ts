import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HoldService } from "../../src/gen/cupo/clinic/v1/hold_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { book, bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { hold, holdFirst, holdIn, unitsOf } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";
import { at, timedBooking } from "./timed-bookings.js";

const { holdAppointmentOption } = HoldService.method;
const MINUTE_MS = 60_000;

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService({ HOLDS_PER_PRINCIPAL: "5", CALLS_PER_PRINCIPAL: "20" });
});

beforeEach(async () => {
  clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  patientId = await fixtures.createPatient(service, {}, clinic.as);
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("HoldAppointmentOption", () => {
  test("holds the option, and returns a token of its own that expires with the hold", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const answer = await hold(clinic, `${option?.optionToken}`);
    const { expiresAt, optionToken, holdId, ...rest } = holdIn(answer);
    expect(rest).toEqual({
      patientId,
      serviceId: clinic.serviceId,
      programId: clinic.programId,
      locationId: option?.locationId,
      practitionerId: option?.practitionerId,
      startsAt: option?.startsAt,
      endsAt: option?.endsAt,
    });
    expect(Date.parse(expiresAt) - service.now()).toBeLessThanOrEqual(5 * MINUTE_MS);
    expect(Date.parse(expiresAt) - service.now()).toBeGreaterThan(4 * MINUTE_MS);
    expect([optionToken.length, optionToken === option?.optionToken]).toEqual([274, false]);
    expect(await auditOf(service, answer)).toMatchObject([
      { action: "CREATE", resource_type: "AppointmentHold", resource_id: holdId, resource_version: null },
    ]);
    expect(await unitsOf(clinic)).toEqual({ booked: 0, held: 1 });
  });

  test("holds for the requested minutes, but not beyond the start of the slot", async () => {
    const { startsAt } = await holdFirst(clinic, { patientId });
    service.advance(Date.parse(startsAt) + 27 * MINUTE_MS - service.now());
    const other = await fixtures.createPatient(service, {}, clinic.as);
    const [next, later] = await optionsFor(clinic, {
      patientId: other,
      dateFrom: day(clinic, 0),
      dateTo: day(clinic, 0),
    });
    const ends = holdIn(await hold(clinic, `${next?.optionToken}`, { minutes: 10 }));
    expect(ends.expiresAt).toBe(next?.startsAt);
    const short = holdIn(await hold(clinic, `${later?.optionToken}`, { minutes: 1 }));
    expect(Date.parse(short.expiresAt) - service.now()).toBeLessThanOrEqual(MINUTE_MS);
  });

  test.each([0, 11])("rejects %i minutes: 422", async (minutes) => {
    expectRefusal(await hold(clinic, "token", { minutes }), 422, ["minutes OUT_OF_RANGE"]);
  });

  test("uses up the token of the search: 410", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const token = `${option?.optionToken}`;
    holdIn(await hold(clinic, token));
    expectRefusal(await hold(clinic, token), 410);
    expectRefusal(await book(clinic, patientId, token), 410);
  });

  test("rejects a malformed token, one of another tenant and one of a hold: 422", async () => {
    const held = await holdFirst(clinic, { patientId });
    const [option] = await optionsFor(clinic, { patientId });
    const elsewhere = await call({ service, as: { tenantId: randomUUID() } }, "HoldAppointmentOption", {
      optionToken: `${option?.optionToken}`,
    });
    for (const answer of [await hold(clinic, "x"), await hold(clinic, held.optionToken), elsewhere])
      expectRefusal(answer, 422, ["optionToken INVALID_OPTION"]);
  });

  test("rejects an expired token: 410", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    service.advance(10 * MINUTE_MS);
    expectRefusal(await hold(clinic, `${option?.optionToken}`), 410);
  });

  test("rejects an inactive patient and an appointment that cannot be moved: 409", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    await mustCall(clinic, "SetPatientStatus", { patientId, status: "INACTIVE", expectedVersion: 1 });
    expectRefusal(await hold(clinic, `${option?.optionToken}`), 409, ["optionToken PATIENT_NOT_ACTIVE"]);
    const other = await fixtures.createPatient(service, {}, clinic.as);
    const { appointmentId } = await bookFirst(clinic, other);
    const [move] = await optionsFor(clinic, { appointmentId });
    const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
    expectRefusal(await hold(clinic, `${move?.optionToken}`), 409, ["optionToken STATE_NOT_ALLOWED"]);
  });

  test("replays its result, with the same token", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const request = { optionToken: `${option?.optionToken}` };
    const changes = { as: clinic.as, headers: { "idempotency-key": randomUUID() } };
    const first = await callRpc(service, holdAppointmentOption, request, changes);
    const again = await callRpc(service, holdAppointmentOption, request, changes);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  test("rejects a fourth live hold of a patient: 409", async () => {
    const holds = [];
    for (const skip of [0, 1, 2]) holds.push(await holdFirst(clinic, { patientId }, skip));
    const [option] = await optionsFor(clinic, { patientId });
    const token = `${option?.optionToken}`;
    expectRefusal(await hold(clinic, token), 409, ["optionToken HOLD_LIMIT"]);
    await mustCall(clinic, "ReleaseHold", { holdId: `${holds[0]?.holdId}` });
    holdIn(await hold(clinic, token));
  });

  test("rejects more live holds of a client than the setting, exactly, until one ends: 409", async () => {
    const tokens = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const one = await fixtures.createPatient(service, {}, clinic.as);
        return `${(await optionsFor(clinic, { patientId: one, dateFrom: day(clinic, 2 + i), dateTo: day(clinic, 2 + i) }))[0]?.optionToken}`;
      }),
    );
    const answers = await Promise.all(tokens.map((token) => hold(clinic, token)));
    const refusals = answers.filter(({ status }) => status !== 200);
    expect(refusals).toHaveLength(answers.length - 5);
    for (const answer of refusals) expectRefusal(answer, 409, ["optionToken HOLD_LIMIT"]);
    const refused = tokens[answers.findIndex(({ status }) => status === 409)];
    service.advance(5 * MINUTE_MS);
    holdIn(await hold(clinic, `${refused}`));
  });

  test("requires the scope scheduling:write, and the organization and company of the search", async () => {
    const [option] = await optionsFor(clinic, { patientId });
    const token = `${option?.optionToken}`;
    const scopes = service.scopes.filter((scope) => scope !== "scheduling:write");
    expectRefusal(await hold({ ...clinic, as: { ...clinic.as, scopes } }, token), 403);
    const elsewhere = { ...clinic, as: { ...clinic.as, organizationId: randomUUID() } };
    expectRefusal(await hold(elsewhere, token), 422, ["optionToken INVALID_OPTION"]);
    holdIn(await hold({ ...clinic, as: { ...clinic.as, scopes: ["scheduling:write"] } }, token));
  });
});

describe("a held time", () => {
  test("is offered to nobody, not even to its patient, and its day has less capacity", async () => {
    const own = await openClinic(service, { as: clinic.as, rule: { dailyCapacity: 1 } });
    const held = await holdFirst(own, { patientId });
    const other = await fixtures.createPatient(service, {}, own.as);
    for (const id of [patientId, other]) expect(await optionsFor(own, { patientId: id })).toEqual([]);
    const dates = { dateFrom: day(own, 2), dateTo: day(own, 2) };
    const { slots } = await mustCall(own, "SearchFreeSlots", { serviceId: own.serviceId, ...dates });
    expect(slots).toEqual([]);
    await mustCall(own, "ReleaseHold", { holdId: held.holdId });
    expect((await optionsFor(own, { patientId: other }))[0]).toMatchObject({ startsAt: held.startsAt });
  });

  test("is shown as held by GetOccupancy", async () => {
    await holdFirst(clinic, { patientId });
    const { programId } = clinic;
    const read = () =>
      mustCall(clinic, "GetOccupancy", { programId, dateFrom: day(clinic, 2), dateTo: day(clinic, 2) });
    const shown = (openSlotCount: number, heldSlotCount: number, capacityLeft: number) => ({
      programDays: [{ capacityLeft, practitioners: [{ openSlotCount, heldSlotCount, bookedAppointmentCount: 0 }] }],
    });
    expect(await read()).toMatchObject(shown(7, 1, 19));
    service.advance(5 * MINUTE_MS);
    expect(await read()).toMatchObject(shown(8, 0, 20));
  });

  test("cannot be booked or held by others until the hold expires: 409", async () => {
    const other = await fixtures.createPatient(service, {}, clinic.as);
    const third = await fixtures.createPatient(service, {}, clinic.as);
    const tokens = async (id: string) => `${(await optionsFor(clinic, { patientId: id }))[0]?.optionToken}`;
    const [own, forBooking, forHolding] = [await tokens(patientId), await tokens(other), await tokens(third)];
    holdIn(await hold(clinic, own));
    const occupied = ["optionToken SLOT_OCCUPIED"];
    expectRefusal(await book(clinic, other, forBooking), 409, occupied);
    expectRefusal(await hold(clinic, forHolding), 409, occupied);
    expectRefusal(await call(clinic, "BookAppointmentAt", await timedBooking(clinic)), 409, ["startsAt SLOT_OCCUPIED"]);
    service.advance(5 * MINUTE_MS);
    const { expiresAt } = holdIn(await hold(clinic, forHolding, { minutes: 2 }));
    expectRefusal(await call(clinic, "BookAppointmentAt", await timedBooking(clinic)), 409, ["startsAt SLOT_OCCUPIED"]);
    service.advance(Date.parse(expiresAt) - service.now());
    await mustCall(clinic, "BookAppointmentAt", await timedBooking(clinic));
  });

  test("is busy for its patient elsewhere, but overbooking overrides it for others", async () => {
    await holdFirst(clinic, { patientId });
    const reason = "Viene de lejos.";
    const own = await call(clinic, "OverbookAppointment", { ...(await timedBooking(clinic, { patientId })), reason });
    expectRefusal(own, 409, ["startsAt PATIENT_OVERLAP"]);
    const { appointment } = await mustCall(clinic, "OverbookAppointment", { ...(await timedBooking(clinic)), reason });
    expect(appointment).toMatchObject({ overbooked: true });
  });
});

describe("alternatives", () => {
  test("the first free one is held, in their order, and the token of another stays usable", async () => {
    const other = await fixtures.createPatient(service, {}, clinic.as);
    const taken = await optionsFor(clinic, { patientId });
    const options = await optionsFor(clinic, { patientId });
    await bookFirst(clinic, other);
    const tokens = options.map(({ optionToken }) => optionToken);
    const [optionToken = "", second = "", third = ""] = tokens;
    const held = holdIn(await hold(clinic, optionToken, { alternativeOptionTokens: [third, second] }));
    expect(held.startsAt).toBe(taken[2]?.startsAt);
    expect((await book(clinic, patientId, second)).status).toBe(200);
  });

  test("those that were used or have expired are skipped", async () => {
    const old = await optionsFor(clinic, { patientId });
    service.advance(10 * MINUTE_MS);
    const [used, free] = await optionsFor(clinic, { patientId });
    const third = (await optionsFor(clinic, { patientId }))[2];
    await mustCall(clinic, "ReleaseHold", { holdId: holdIn(await hold(clinic, `${used?.optionToken}`)).holdId });
    const tokens = {
      alternativeOptionTokens: [`${used?.optionToken}`, `${third?.optionToken}`, `${free?.optionToken}`],
    };
    expect(holdIn(await hold(clinic, `${old[0]?.optionToken}`, tokens)).startsAt).toBe(third?.startsAt);
  });

  test("a used token does not hide a later one for the same slot", async () => {
    const [used] = await optionsFor(clinic, { patientId });
    const { holdId } = holdIn(await hold(clinic, `${used?.optionToken}`));
    await mustCall(clinic, "ReleaseHold", { holdId });
    const [fresh, later] = await optionsFor(clinic, { patientId });
    const tokens = { alternativeOptionTokens: [`${fresh?.optionToken}`, `${later?.optionToken}`] };
    expect(holdIn(await hold(clinic, `${used?.optionToken}`, tokens)).startsAt).toBe(used?.startsAt);
  });

  test("one whose slots were withdrawn in part is skipped", async () => {
    const own = await openClinic(service, { as: clinic.as });
    const { appointment } = await mustCall(own, "BookAppointmentAt", await timedBooking(own, { durationMinutes: 60 }));
    const { appointmentId } = appointment as { appointmentId: string };
    const [shortened, , whole] = await optionsFor(own, { appointmentId });
    const block = { programId: own.programId, kind: "OTHER", startsAt: at(own, "09:30"), endsAt: at(own, "10:00") };
    await mustCall(own, "CreateScheduleBlock", block);
    const tokens = { alternativeOptionTokens: [`${whole?.optionToken}`] };
    expect(holdIn(await hold(own, `${shortened?.optionToken}`, tokens)).startsAt).toBe(whole?.startsAt);
  });

  test("one that now begins within the minimum notice is skipped", async () => {
    await mustCall(clinic, "UpdateTenantSettings", { minimumNoticeMinutes: 60, expectedVersion: 1 });
    service.advance(Date.parse(at(clinic, "08:00")) - 62 * MINUTE_MS - service.now());
    const on = (date: string) => optionsFor(clinic, { patientId, dateFrom: date, dateTo: date });
    const [[soon], [later]] = [await on(day(clinic, 0)), await on(day(clinic, 1))];
    service.advance(5 * MINUTE_MS);
    expectRefusal(await hold(clinic, `${soon?.optionToken}`), 410);
    const answer = await hold(clinic, `${soon?.optionToken}`, { alternativeOptionTokens: [`${later?.optionToken}`] });
    expect(holdIn(answer).startsAt).toBe(later?.startsAt);
  });

  test("one whose program no longer offers the service is skipped", async () => {
    const { as, serviceId, programId } = clinic;
    const other = await openClinic(service, { as, serviceId });
    const options = await optionsFor(clinic, { patientId });
    const [withdrawn, offered] = [clinic, other].map((of) => options.find((one) => one.programId === of.programId));
    await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [], expectedVersion: 2 });
    const tokens = { alternativeOptionTokens: [`${offered?.optionToken}`] };
    expect(holdIn(await hold(clinic, `${withdrawn?.optionToken}`, tokens))["programId"]).toBe(other.programId);
  });

  test("if none can be booked any more, the option is gone: 410", async () => {
    const { programId } = clinic;
    const [optionToken = "", ...rest] = (await optionsFor(clinic, { patientId })).map((option) => option.optionToken);
    await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [], expectedVersion: 2 });
    expectRefusal(await hold(clinic, optionToken, { alternativeOptionTokens: rest }), 410);
  });

  test("if none is free, the error is that of the option", async () => {
    const own = await openClinic(service, { as: clinic.as, rule: { endsAtLocal: "09:00:00" } });
    const options = await optionsFor(own, { patientId });
    for (const skip of [0, 0]) await bookFirst(own, await fixtures.createPatient(service, {}, own.as), {}, skip);
    const [optionToken = "", ...rest] = options.map((option) => option.optionToken);
    const answer = await hold(own, optionToken, { alternativeOptionTokens: rest });
    expectRefusal(answer, 409, ["optionToken SLOT_OCCUPIED"]);
  });

  test("one for another patient and more than twenty are rejected: 422", async () => {
    const other = await fixtures.createPatient(service, {}, clinic.as);
    const [[one], [two]] = [await optionsFor(clinic, { patientId }), await optionsFor(clinic, { patientId: other })];
    const mixed = await hold(clinic, `${one?.optionToken}`, { alternativeOptionTokens: [`${two?.optionToken}`] });
    expectRefusal(mixed, 422, ["alternativeOptionTokens[0] INVALID_OPTION"]);
    const many = Array.from({ length: 21 }, (_, i) => `token ${i}`);
    const answer = await hold(clinic, "token", { alternativeOptionTokens: many });
    expectRefusal(answer, 422, ["alternativeOptionTokens TOO_MANY"]);
  });
});
