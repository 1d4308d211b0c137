import type { ImportedAppointmentValid } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import { changeOf } from "../../postgres/tables/appointments/appointment-history.js";
import { isLive } from "../../postgres/tables/appointments/appointment-status.js";
import type { AppointmentRecord } from "../../postgres/tables/appointments/appointments.js";
import { insertAppointments } from "../../postgres/tables/imports/import-appointments.js";
import { insertOwnSlots, takeRuns } from "../../postgres/tables/imports/import-slots.js";
import { judgeAppointment } from "./appointment-judgement.js";
import { dayOf, type PlacedAppointment, placeAppointments } from "./appointment-places.js";
import { type AppointmentDraft, readAppointmentReferences } from "./appointment-references.js";
import { type ImportClock, judgeTime, latestAssignment } from "./appointment-times.js";
import { type DueDateOf, readDueDates } from "./due-dates.js";
import type { ImportBatch, RowOf } from "./import-batch.js";
import { mapInTurns } from "./turns.js";

/**
 * Imports past and future appointments, and rejects rows with errors. The appointments get version 1 and the status
 * that they have in the other system. An appointment without slots of the schedule is overbooked, so it uses no
 * capacity of its day.
 */
export async function importAppointments(
  batch: ImportBatch,
  rows: readonly RowOf<ImportedAppointmentValid>[],
  clock: ImportClock,
): Promise<void> {
  if (rows.length === 0) return;
  const { transaction } = batch.call;
  const drafts = await mapInTurns(rows, (row) => draftOf(batch, row, clock));
  const waits = drafts.map(({ value }) => ({ holderId: value.appointmentTypeId, requestedOn: value.requestedOn }));
  const [references, dueDateOf] = await Promise.all([
    readAppointmentReferences(batch, drafts),
    readDueDates(transaction, "appointment_types", waits),
  ]);
  const judged = await mapInTurns(drafts, (draft) => {
    const result = judgeAppointment(draft, references, clock);
    if ("draft" in result) return [result];
    batch.reject(draft.row, result);
    return [];
  });
  const placed = await placeAppointments(batch, judged.flat());
  if (placed.length > 0) await write(batch, placed, dueDateOf);
}

function draftOf(batch: ImportBatch, { row, value }: RowOf<ImportedAppointmentValid>, clock: ImportClock) {
  const { time, errors } = judgeTime(value, clock);
  const { patient, practitioner, service, location, payer } = value;
  const draft: AppointmentDraft = {
    row,
    value,
    time,
    errors,
    patientId: batch.resolve("PATIENT", patient),
    practitionerId: batch.resolve("PRACTITIONER", practitioner),
    serviceId: batch.resolve("SERVICE", service),
    locationId: location && batch.resolve("LOCATION", location),
    payerId: payer && batch.resolve("PAYER", payer),
    programId: value.programId,
  };
  return draft;
}

async function write(batch: ImportBatch, placed: readonly PlacedAppointment[], dueDateOf: DueDateOf): Promise<void> {
  const { call, source } = batch;
  const { transaction, principal } = call;
  const made = await mapInTurns(placed, (place) => ({ place, appointment: newAppointment(batch, place, dueDateOf) }));
  const appointments = made.map(({ appointment }) => appointment);
  const changes = appointments.map((appointment) => changeOf(undefined, appointment, principal, call));
  insertAppointments(transaction, source, appointments, changes, call);
  const runs = made.flatMap(({ place: { slots }, appointment }) => {
    const day = dayOf(slots[0]);
    return day === undefined ? [] : [{ appointmentId: appointment.id, slotIds: slots.map(({ id }) => id), day }];
  });
  takeRuns(transaction, runs);
  const outside = made.filter(({ appointment: { overbooked, status } }) => overbooked && isLive(status));
  const own = outside.map(({ place: { draft }, appointment }) => ({
    slotId: call.newId(),
    appointment,
    isAccepted: !draft.time.isAhead,
  }));
  insertOwnSlots(transaction, own);
  for (const { place, appointment } of made) {
    batch.accept(place.draft.row, appointment.id, { resourceType: "Appointment", version: 1 });
  }
}

/** The attributes that cannot be imported, with the values that every imported appointment gets. */
const NOT_IMPORTED = {
  visitEndsAt: undefined,
  replacesAppointmentId: undefined,
  modality: undefined,
  joinLink: undefined,
  seriesId: undefined,
  lateEntry: false,
};

function newAppointment(batch: ImportBatch, place: PlacedAppointment, dueDateOf: DueDateOf): AppointmentRecord {
  const { draft, patientId, practitionerId, serviceId, locationId, slots } = place;
  const { value, time, programId, payerId } = draft;
  const { requestedOn, desiredOn, firstVisit, comment } = value;
  const [appointmentTypeId, ruleId] = [value.appointmentTypeId, slots[0]?.ruleId];
  const isOutside = ruleId === undefined;
  return {
    id: batch.call.newId(),
    patientId,
    serviceId,
    programId,
    ruleId,
    practitionerId,
    locationId,
    localDate: time.localDate,
    startsAt: new Date(time.startMs),
    endsAt: new Date(time.endMs),
    status: time.status,
    version: 1,
    requestSourceId: value.requestSourceId,
    appointmentTypeId,
    consultationTypeId: value.consultationTypeId,
    cancellationReasonId: value.cancellationReasonId,
    noShowReasonId: value.noShowReasonId,
    comment,
    requestedOn,
    dueOn: dueDateOf({ holderId: appointmentTypeId, requestedOn }),
    assignedOn: value.assignedOn ?? latestAssignment(time.localDate, batch.nowMs),
    desiredOn,
    firstVisit,
    payerId,
    ...NOT_IMPORTED,
    overbooked: isOutside,
    overbookingReason: isOutside
      ? (value.overbookingReason ?? `Imported from ${batch.source.sourceSystem}.`)
      : undefined,
    createdAt: new Date(batch.nowMs),
    updatedAt: new Date(batch.nowMs),
  };
}
