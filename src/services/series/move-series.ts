import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { conflict, unknownReferences, validationFailed } from "../../errors.js";
import type { MoveSeriesRequestValid } from "../../gen/cupo/clinic/v1/series_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentRecord,
  findSeries,
  updateAppointment,
} from "../../postgres/tables/appointments/appointments.js";
import { type BusyPeople, findBusyBeside, nobodyBusy } from "../../postgres/tables/appointments/busy-people.js";
import { isFirstVisit } from "../../postgres/tables/appointments/first-visits.js";
import { findOffer, type Offer } from "../../postgres/tables/appointments/offers.js";
import { practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { setAside } from "../../postgres/tables/displaced/swaps.js";
import { type LockedTimes, lockTimesInOrder, lockWithPatients } from "../../postgres/tables/locks-together.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import { occupySlots, releaseSlots } from "../../postgres/tables/schedule/slots.js";
import { findMoveLimits, type MoveLimits } from "../../postgres/tables/settings/booking-limits.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { localShift, shiftLocally } from "../../scheduling/local-shift.js";
import { inactivePatient, lateConflicts, roomConflicts } from "../appointments/appointment-preconditions.js";
import { requireStart } from "../appointments/booking-target.js";
import type { TakenSlots } from "../appointments/take-slots.js";
import { inactive, missing, requireFound, requireVersion } from "../resources/preconditions.js";
import { changeableFrom, slotsHeldBy, unchangeable } from "./series-appointments.js";
import {
  type FoundPlace,
  findPlaces,
  type JudgedPlace,
  judgePlace,
  runsOf,
  takePlaces,
  type WantedPlace,
} from "./take-places.js";

const FROM = "fromAppointmentId";

/** An appointment and its new time. */
interface WantedMove extends WantedPlace {
  readonly appointment: AppointmentRecord;
}

type FoundMove = WantedMove & FoundPlace;

/** A move with what was read after the locks. */
interface ReadMove {
  readonly move: FoundMove;
  readonly localDate: string;
  readonly offer: Offer | undefined;
  readonly busy: BusyPeople;
  readonly limits: MoveLimits;
  /** Whether it is a first visit then. Undefined if it stays in its calendar year, where nothing is decided again. */
  readonly isFirst: boolean | undefined;
}

/**
 * Moves an appointment of a series and those that follow it by the same shift of the local clock, all or none. It waits
 * for five round trips, however many there are.
 *
 * Throws 404 for an unknown series, appointment or practitioner, 422 for a start that cannot be booked and for a
 * practitioner who is not active. Throws 409 for another version, and with all conflicts of the patient, the times, the
 * capacity of the days and the limits of the tenant.
 */
export async function moveSeries(
  request: MoveSeriesRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<readonly AppointmentRecord[]> {
  const { transaction } = call;
  const [ids] = await Promise.all([findSeries(transaction, request.seriesId), requirePractitioner(request, call)]);
  requireFound(ids[0], "seriesId");
  const { appointments, patients } = await lockWithPatients(transaction, ids);
  const moves = await findMoves(request, appointments, call, nowMs);
  const movedIds = moves.map(({ appointment }) => appointment.id);
  const wanted = {
    runs: runsOf(moves),
    occupiedBy: movedIds,
    practitionerIds: moves.map((each) => each.practitionerId),
  };
  const [locked, read] = await Promise.all([
    lockTimesInOrder(transaction, wanted),
    Promise.all(moves.map((move) => readMove(move, movedIds, call, nowMs))),
  ]);
  const leaving = new Set(movedIds);
  const counted = countOneAfterTheOther(read);
  const places = counted.map((each) => judgeMove(each, locked, leaving, call, nowMs));
  const [patient] = patients.values();
  const taken = await takePlaces(transaction, places, inactivePatient(patient, FROM), nowMs);
  return carryOut(counted, taken, locked, call, nowMs);
}

async function requirePractitioner({ practitionerId }: MoveSeriesRequestValid, call: ReadyCall): Promise<void> {
  if (practitionerId === undefined) return;
  const practitioner = await findResource(call.transaction, call.principal, practitioners, practitionerId);
  if (practitioner === undefined) throw unknownReferences([missing("practitionerId")]);
  if (!practitioner.active) throw validationFailed([inactive("practitionerId")]);
}

/** Returns the moves of the locked appointments, with the slots of their new times as they are without locks. */
async function findMoves(
  request: MoveSeriesRequestValid,
  series: ReadonlyMap<string, AppointmentRecord>,
  { transaction }: ReadyCall,
  nowMs: number,
): Promise<readonly FoundMove[]> {
  const changeable = changeableFrom(series, request.fromAppointmentId, nowMs);
  const [from] = changeable;
  requireVersion(series.get(request.fromAppointmentId) ?? from, request.expectedVersion);
  if (from.id !== request.fromAppointmentId) throw conflict(unchangeable(FROM));
  const startMs = timestampMs(request.startsAt);
  const shift = localShift(from.startsAt.getTime(), startMs);
  const wanted = changeable.map((appointment, index): WantedMove => {
    const { programId, startsAt, endsAt } = appointment;
    return {
      appointment,
      field: `occurrences[${index}]`,
      programId,
      practitionerId: request.practitionerId ?? appointment.practitionerId,
      startMs: shiftLocally(startsAt.getTime(), shift),
      minutes: (endsAt.getTime() - startsAt.getTime()) / 60_000,
    };
  });
  const horizon = readMaterialization(transaction, from.programId).then(({ horizonDays }) => {
    requireStart(request, startMs, nowMs, horizonDays);
    return horizonDays;
  });
  return findPlaces(transaction, wanted, horizon, nowMs);
}

async function readMove(
  move: FoundMove,
  exceptIds: readonly string[],
  call: ReadyCall,
  nowMs: number,
): Promise<ReadMove> {
  const { transaction, principal } = call;
  const { run, appointment } = move;
  const { id, patientId, serviceId } = appointment;
  const localDate = localDateAt(move.startMs);
  const [offer, busy, limits, isFirst] = await Promise.all([
    run && findOffer(transaction, principal, { slotId: run.firstSlotId, serviceId }, undefined),
    run === undefined ? nobodyBusy : findBusyBeside(transaction, run, { patientId, exceptIds }, nowMs),
    findMoveLimits(transaction, id, run?.firstSlotId),
    yearOf(localDate) === yearOf(appointment.localDate)
      ? undefined
      : isFirstVisit(transaction, { patientId, serviceId, on: { localDate } }, id),
  ]);
  return { move, localDate, offer, busy, limits, isFirst };
}

function yearOf(localDate: string): string {
  return localDate.slice(0, 4);
}

/** Counts the moves of this call as if they were made: all have left their days, and the earlier ones have arrived. */
function countOneAfterTheOther(moves: readonly ReadMove[]): readonly ReadMove[] {
  return moves.map((read, index) => {
    const alike = (other: ReadMove) => other.move.appointment.serviceId === read.move.appointment.serviceId;
    const earlier = moves.slice(0, index).filter(alike);
    const left = moves.filter(
      (other) => other !== read && alike(other) && other.move.appointment.localDate === read.localDate,
    );
    const arrived = earlier.filter(({ localDate }) => localDate === read.localDate);
    const { onDay, latestHours } = read.limits;
    const count = (onDay?.count ?? 0) - left.length + arrived.length;
    const isYearTaken = earlier.some(({ localDate }) => yearOf(localDate) === yearOf(read.localDate));
    const isFirst = read.isFirst && !isYearTaken;
    return { ...read, limits: { latestHours, onDay: onDay && { ...onDay, count } }, isFirst };
  });
}

function judgeMove(
  { move, offer, busy, limits }: ReadMove,
  locked: LockedTimes,
  leaving: ReadonlySet<string | undefined>,
  { principal }: ReadyCall,
  nowMs: number,
): JudgedPlace {
  const { field, appointment } = move;
  const slots = slotsHeldBy(appointment, locked.slots);
  const isActive = locked.activePractitioners.has(move.practitionerId);
  const locationId = isActive ? offer?.locationId : undefined;
  const place = judgePlace(move, locked, { locationId, busy, held: slots, leaving });
  const change = { principal, slots, nowMs };
  const late = lateConflicts(appointment, "be rescheduled", limits.latestHours, { ...change, field });
  return { ...place, found: [...late, ...roomConflicts(limits, principal, field), ...place.found] };
}

/** Frees the slots of all appointments before they take others, which another one of them may have left. */
function carryOut(
  moves: readonly ReadMove[],
  taken: readonly TakenSlots[],
  locked: LockedTimes,
  call: ReadyCall,
  nowMs: number,
): readonly AppointmentRecord[] {
  const { transaction, principal } = call;
  const appointments = moves.map(({ move }) => move.appointment);
  releaseSlots(
    transaction,
    appointments.flatMap((appointment) => slotsHeldBy(appointment, locked.slots)),
  );
  setAside(
    transaction,
    appointments.map(({ id }) => id),
  );
  return moves.flatMap(({ move: { appointment }, isFirst = appointment.firstVisit }, index) => {
    const { slots, placement } = taken[index] ?? {};
    if (slots === undefined || placement === undefined) return [];
    const version = appointment.version + 1;
    const changed = { firstVisit: isFirst, overbooked: false, version, updatedAt: new Date(nowMs) };
    const moved: AppointmentRecord = { ...appointment, ...placement, ...changed };
    occupySlots(transaction, slots, moved.id);
    updateAppointment(transaction, moved);
    insertAppointmentChange(transaction, appointment, moved, principal, call);
    call.effects.push({ resourceType: "Appointment", resourceId: moved.id, action: "UPDATE", version });
    return [moved];
  });
}
