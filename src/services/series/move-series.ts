import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall, Transaction } from "../../call.js";
import { conflict, unknownReferences, validationFailed } from "../../errors.js";
import type { MoveSeriesRequestValid } from "../../gen/cupo/clinic/v1/series_service_pb.js";
import { insertAppointmentChange } from "../../postgres/tables/appointments/appointment-history.js";
import {
  type AppointmentRecord,
  findSeries,
  updateAppointment,
  visitMinutesOf,
} from "../../postgres/tables/appointments/appointments.js";
import { practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { setAside } from "../../postgres/tables/displaced/swaps.js";
import { type LockedTimes, lockTimesInOrder, lockWithPatients } from "../../postgres/tables/locks-together.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { readMaterializations } from "../../postgres/tables/schedule/materialization.js";
import { occupySlots, releaseSlots } from "../../postgres/tables/schedule/slots.js";
import { localShift, shiftLocally } from "../../scheduling/local-shift.js";
import { inactivePatient } from "../appointments/appointment-preconditions.js";
import { requireStart } from "../appointments/booking-target.js";
import type { TakenSlots } from "../appointments/take-slots.js";
import { inactive, missing, requireFound, requireVersion } from "../resources/preconditions.js";
import {
  countOneAfterTheOther,
  type FoundMove,
  judgeMove,
  judgeTogether,
  type ReadMove,
  readMove,
  type WantedMove,
} from "./judge-move.js";
import { changeableFrom, slotsHeldBy, unchangeable } from "./series-appointments.js";
import { findPlaces, type Horizons, runsOf, takePlaces } from "./take-places.js";

const FROM = "fromAppointmentId";

/**
 * Moves an appointment of a series and all later ones that can be changed: all of them, or none. Shifts the local time
 * of each by the same amount. Returns the moved appointments. For any number of appointments, waits for five round
 * trips, or for six if the tenant limits the appointments for a service on one day.
 *
 * Throws:
 * - 404 for an unknown series, appointment or practitioner
 * - 422 for a start that cannot be booked, and for an inactive practitioner
 * - 409 for a stale version, and for an appointment that can no longer be changed
 * - 409 with all conflicts of the patient, the times, the capacities of the days and the tenant's limits
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
  const places = countOneAfterTheOther(read).map((each) => judgeMove(each, locked, leaving, call, nowMs));
  const [patient] = patients.values();
  const taken = await takePlaces(transaction, judgeTogether(places), inactivePatient(patient, FROM), nowMs);
  return carryOut(taken, locked, call, nowMs);
}

async function requirePractitioner({ practitionerId }: MoveSeriesRequestValid, call: ReadyCall): Promise<void> {
  if (practitionerId === undefined) return;
  const practitioner = await findResource(call.transaction, call.principal, practitioners, practitionerId);
  if (practitioner === undefined) throw unknownReferences([missing("practitionerId")]);
  if (!practitioner.active) throw validationFailed([inactive("practitionerId")]);
}

/**
 * Returns the moves of the requested appointment and of the later ones that can be changed, with the slots of their new
 * times. It reads these slots without locking them. Throws 404, 409 or 422 if the appointments cannot move to the
 * requested time.
 */
async function findMoves(
  request: MoveSeriesRequestValid,
  series: ReadonlyMap<string, AppointmentRecord>,
  { transaction }: ReadyCall,
  nowMs: number,
): Promise<readonly FoundMove[]> {
  const changeable = changeableFrom(series, request.fromAppointmentId, nowMs);
  const [from] = changeable;
  requireVersion(requireFound(series.get(request.fromAppointmentId), FROM), request.expectedVersion);
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
      visitMinutes: visitMinutesOf(appointment),
    };
  });
  const horizons = readHorizons(transaction, wanted).then((days) => {
    requireStart(request, startMs, nowMs, days.get(from.programId) ?? 0);
    return days;
  });
  return findPlaces(transaction, wanted, horizons, nowMs);
}

/** Returns the horizons of the programs of these moves. The appointments of a series can be in several programs. */
async function readHorizons(transaction: Transaction, moves: readonly WantedMove[]): Promise<Horizons> {
  const programIds = [...new Set(moves.map(({ programId }) => programId))];
  const states = await readMaterializations(transaction, programIds);
  return new Map([...states].map(([id, { horizonDays }]) => [id, horizonDays]));
}

/**
 * Writes the moves and returns the moved appointments. Frees the slots of all appointments first, because one
 * appointment may move to slots that another one leaves.
 */
function carryOut(
  moves: readonly { readonly read: ReadMove; readonly taken: TakenSlots }[],
  locked: LockedTimes,
  call: ReadyCall,
  nowMs: number,
): readonly AppointmentRecord[] {
  const { transaction, principal } = call;
  const appointments = moves.map(({ read }) => read.move.appointment);
  releaseSlots(
    transaction,
    appointments.flatMap((appointment) => slotsHeldBy(appointment, locked.slots)),
  );
  setAside(
    transaction,
    appointments.map(({ id }) => id),
  );
  return moves.map(({ read, taken: { slots, placement } }) => {
    const { appointment } = read.move;
    const { isFirst = appointment.firstVisit } = read;
    const version = appointment.version + 1;
    const changed = { firstVisit: isFirst, overbooked: false, version, updatedAt: new Date(nowMs) };
    const moved: AppointmentRecord = { ...appointment, ...placement, ...changed };
    occupySlots(transaction, slots, moved.id);
    updateAppointment(transaction, moved);
    insertAppointmentChange(transaction, appointment, moved, principal, call);
    call.effects.push({ resourceType: "Appointment", resourceId: moved.id, action: "UPDATE", version });
    return moved;
  });
}
