import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict, type FieldErrorCode, unknownReferences, validationFailed } from "../../errors.js";
import type { SwapPractitionersRequestValid } from "../../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import { isMovable } from "../../postgres/tables/appointments/appointment-status.js";
import { type AppointmentRecord, updateAppointment } from "../../postgres/tables/appointments/appointments.js";
import { findOutdated } from "../../postgres/tables/appointments/offers.js";
import { practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { findInSpan, findObstructed, type SwappedSpan, setAside } from "../../postgres/tables/displaced/swaps.js";
import { type LockedTogether, lockAllInOrder } from "../../postgres/tables/locks-together.js";
import { findResource, lockResourceRow } from "../../postgres/tables/resources/resources.js";
import { programs } from "../../postgres/tables/schedule/programs.js";
import { occupySlots, releaseSlots, type SlotRecord } from "../../postgres/tables/schedule/slots.js";
import { formatInstant } from "../../scheduling/local-clock.js";
import { fill } from "../appointments/take-slots.js";
import { inactive, missing } from "../resources/preconditions.js";

/**
 * An appointment to move to the other practitioner. `held` are its slots. `wanted` are the slots of the other
 * practitioner at the same time.
 */
interface Exchange {
  readonly appointment: AppointmentRecord;
  readonly held: readonly SlotRecord[];
  readonly wanted: readonly SlotRecord[];
}

/**
 * Exchanges the appointments that two practitioners of a program have in a time span, except CANCELLED and NO_SHOW
 * ones. Exchanges all of them or none. Returns the appointments after the exchange.
 *
 * Throws 404 for an unknown program or practitioner. Throws 422 for an inactive practitioner, and for a span that does
 * not start in the future. Throws 409 if:
 * - an appointment is displaced, overbooked, CHECKED_IN, ATTENDED or not wholly in the span
 * - the practitioner who takes over an appointment has no slots of its rule that cover exactly its time
 * - these slots are not up to date
 * - this practitioner has a hold at that time, or an appointment that is not exchanged
 * - the appointments in the span change during the call
 */
export async function swapPractitioners(
  request: SwapPractitionersRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<readonly AppointmentRecord[]> {
  const { transaction } = call;
  const span: SwappedSpan = {
    programId: request.programId,
    practitionerId: request.practitionerId,
    otherPractitionerId: request.otherPractitionerId,
    startsAt: timestampDate(request.startsAt),
    endsAt: timestampDate(request.endsAt),
  };
  requireAhead(span, nowMs);
  const [ids, program] = await Promise.all([
    findInSpan(transaction, span),
    findResource(transaction, call.principal, programs, span.programId),
  ]);
  if (program === undefined) throw unknownReferences([missing("programId")]);
  const locked = await lockBoth(call, span, ids);
  const [now, obstructed, outdated] = await Promise.all([
    findInSpan(transaction, span),
    findObstructed(transaction, span, ids, nowMs),
    findOutdated(transaction, ids),
  ]);
  if (now.join() !== ids.join())
    throw refused("SLOT_OCCUPIED", "the appointments in the span have just changed: send again");
  const exchanges = ids.map((id) => exchangeOf(id, span, locked, outdated));
  if (obstructed.length > 0)
    throw refused("SLOT_OCCUPIED", `the other practitioner is not free for appointment ${obstructed[0]}`);
  return carryOut(exchanges, span, call, nowMs);
}

function requireAhead({ startsAt }: SwappedSpan, nowMs: number): void {
  if (startsAt.getTime() > nowMs) return;
  const message = `the value must be in the future, after ${formatInstant(nowMs)}`;
  throw validationFailed([{ code: "OUT_OF_RANGE", field: "startsAt", message }]);
}

/**
 * Locks the appointments, their patients, and the slots of both practitioners. Then locks both practitioners, ordered
 * by id. Throws 404 for an unknown practitioner, and 422 for an inactive one.
 */
async function lockBoth(call: ReadyCall, span: SwappedSpan, ids: readonly string[]): Promise<LockedTogether> {
  const { transaction, principal } = call;
  const { practitionerId, otherPractitionerId } = span;
  const fields = { [practitionerId]: "practitionerId", [otherPractitionerId]: "otherPractitionerId" };
  const [locked, ...people] = await Promise.all([
    lockAllInOrder(transaction, ids, [practitionerId, otherPractitionerId]),
    ...Object.keys(fields)
      .toSorted()
      .map(async (id) => ({ id, found: await lockResourceRow(transaction, principal, practitioners, id) })),
  ]);
  const absent = people.filter(({ found }) => found === undefined).map(({ id }) => missing(`${fields[id]}`));
  if (absent.length > 0) throw unknownReferences(absent);
  const unusable = people.filter(({ found }) => found?.active === false).map(({ id }) => inactive(`${fields[id]}`));
  if (unusable.length > 0) throw validationFailed(unusable);
  return locked;
}

function exchangeOf(
  id: string,
  span: SwappedSpan,
  { appointments, slots }: LockedTogether,
  outdated: ReadonlySet<string>,
): Exchange {
  const appointment = appointments.get(id);
  const held = slots.filter(({ appointmentId }) => appointmentId === id);
  if (appointment === undefined || !isSwappable(appointment, held, span)) {
    const message = `appointment ${id} is displaced, overbooked, CHECKED_IN, ATTENDED or not wholly in the span`;
    throw refused("STATE_NOT_ALLOWED", message);
  }
  const target = otherThan(appointment.practitionerId, span);
  const [startMs, endMs] = [appointment.startsAt.getTime(), appointment.endsAt.getTime()];
  const wanted = slots.filter(
    (slot) =>
      slot.practitionerId === target &&
      slot.programId === appointment.programId &&
      slot.ruleId === appointment.ruleId &&
      !slot.retained &&
      slot.startsAt.getTime() >= startMs &&
      slot.endsAt.getTime() <= endMs,
  );
  if (outdated.has(id) || !fill(wanted, (endMs - startMs) / 60_000)) {
    throw refused("SLOT_OCCUPIED", `the other practitioner has no slots for appointment ${id}`);
  }
  return { appointment, held, wanted };
}

function isSwappable(appointment: AppointmentRecord, held: readonly SlotRecord[], span: SwappedSpan): boolean {
  const { status, overbooked, startsAt, endsAt } = appointment;
  const isInside = startsAt >= span.startsAt && endsAt <= span.endsAt;
  return isMovable(status) && !overbooked && isInside && !held.some(({ retained }) => retained);
}

function otherThan(practitionerId: string, span: SwappedSpan): string {
  return practitionerId === span.practitionerId ? span.otherPractitionerId : span.practitionerId;
}

/**
 * Moves each appointment to the other practitioner. The program rule and the date of an appointment stay the same, so
 * its use of the day's capacity does not change.
 */
function carryOut(
  exchanges: readonly Exchange[],
  span: SwappedSpan,
  call: ReadyCall,
  nowMs: number,
): readonly AppointmentRecord[] {
  const { transaction, principal } = call;
  releaseSlots(
    transaction,
    exchanges.flatMap(({ held }) => held),
  );
  setAside(
    transaction,
    exchanges.map(({ appointment }) => appointment.id),
  );
  return exchanges.map(({ appointment, wanted }) => {
    const practitionerId = otherThan(appointment.practitionerId, span);
    const version = appointment.version + 1;
    const moved: AppointmentRecord = { ...appointment, practitionerId, version, updatedAt: new Date(nowMs) };
    occupySlots(transaction, wanted, moved.id);
    updateAppointment(transaction, moved);
    insertAppointmentChange(transaction, appointment, moved, principal, call);
    call.effects.push({ resourceType: "Appointment", resourceId: moved.id, action: "UPDATE", version });
    return moved;
  });
}

function refused(code: FieldErrorCode, message: string): CupoError {
  return conflict({ code, field: "practitionerId", message });
}
