import type { JsonObject } from "@bufbuild/protobuf";
import { summarizeWaits } from "../../src/jobs/summarize-waits.js";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { deskFixtures } from "../operations-clinic/desk-fixtures.js";
import { type AppointmentBody, appointmentIn, awaitStep, call, day, mustCall, optionsFor } from "../schedule/clinic.js";
import type { LargeClinic } from "./many-appointments.js";

const DAY_MS = 86_400_000;

/** Returns functions that each take a step of the patients of a clinic, or of the job. They return whether it was possible. */
export function stepsOf(clinic: LargeClinic, database: Database) {
  const { service, as, serviceId, payerIds } = clinic;
  const desk = deskFixtures(service, as);
  const known: { appointmentId: string; patientId: string }[] = [];
  const present = async (statuses: readonly string[]) => {
    for (const { appointmentId } of known.toReversed()) {
      const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
      const found = appointment as unknown as AppointmentBody;
      if (statuses.includes(found.status)) return found;
    }
    return undefined;
  };
  const note = (appointment: AppointmentBody) => known.push(appointment) > 0;
  const change = async (
    rpc: string,
    statuses: readonly string[],
    changes: JsonObject | ((of: AppointmentBody) => Promise<JsonObject>),
  ) => {
    const found = await present(statuses);
    if (found === undefined) return false;
    awaitStep(clinic, rpc, found);
    const more = typeof changes === "function" ? await changes(found) : changes;
    const request = { appointmentId: found.appointmentId, expectedVersion: found.version, ...more };
    return (await call(clinic, rpc, request)).status === 200;
  };
  const book = async (changes: JsonObject, patientId?: string) => {
    const [whose, dates] = [patientId ?? (await desk.patient()), { dateFrom: day(clinic, 0), dateTo: day(clinic, 9) }];
    const [option] = await optionsFor(clinic, { patientId: whose, ...dates });
    const { requestSourceId, appointmentTypeId } = clinic;
    const request = {
      patientId: whose,
      optionToken: `${option?.optionToken}`,
      requestSourceId,
      appointmentTypeId,
      ...changes,
    };
    return note(appointmentIn(await call(clinic, "BookAppointment", request)));
  };
  const reasons = {
    cancellationReasonId: fixtures.cancellationReason.create(service, as),
    noShowReasonId: fixtures.noShowReason.create(service, as),
  };
  return {
    book: () => book({ payerId: `${payerIds[known.length % 2]}` }),
    bookLate: () => book({ requestedOn: day(clinic, -20 - known.length) }),
    async enterAndBook() {
      const patientId = await desk.patient();
      const waitlistEntryId = await desk.entry({
        patientId,
        serviceId,
        dateFrom: day(clinic, 0),
        dateTo: day(clinic, 30),
      });
      service.advance(3 * DAY_MS);
      return book({ waitlistEntryId }, patientId);
    },
    move: () =>
      change("RescheduleAppointment", ["PENDING", "CONFIRMED"], async ({ appointmentId }) => {
        const options = await optionsFor(clinic, { appointmentId, dateFrom: day(clinic, 0), dateTo: day(clinic, 30) });
        return { optionToken: `${options.at(-1)?.optionToken}` };
      }),
    cancel: async () =>
      change("CancelAppointment", ["PENDING", "CONFIRMED"], {
        cancellationReasonId: await reasons.cancellationReasonId,
        comment: "Viaje.",
      }),
    async rebook() {
      const missed = await present(["CANCELLED", "NO_SHOW"]);
      return missed !== undefined && book({ replacesAppointmentId: missed.appointmentId }, missed.patientId);
    },
    miss: async () =>
      change("MarkAppointmentNoShow", ["PENDING", "CONFIRMED"], {
        noShowReasonId: await reasons.noShowReasonId,
        comment: "No vino.",
      }),
    checkIn: () => change("CheckInAppointment", ["PENDING", "CONFIRMED"], {}),
    attend: () => change("MarkAppointmentAttended", ["CHECKED_IN", "PENDING", "CONFIRMED"], {}),
    correctStatus: () =>
      change("CorrectAppointmentStatus", ["ATTENDED", "NO_SHOW"], { status: "CONFIRMED", reason: "Fue un error." }),
    correctWait: () =>
      change("CorrectAppointmentWait", ["PENDING", "CONFIRMED", "ATTENDED", "CANCELLED"], {
        requestedOn: day(clinic, -40),
        firstVisit: false,
        payerId: `${payerIds[1]}`,
        reason: "Llegó antes.",
      }),
    async merge() {
      const found = await present(["PENDING", "CANCELLED", "ATTENDED", "NO_SHOW"]);
      if (found === undefined) return false;
      const survivorPatientId = await desk.patient();
      const versions = { survivorExpectedVersion: 1, duplicateExpectedVersion: 1 };
      const merge = {
        survivorPatientId,
        duplicatePatientId: found.patientId,
        ...versions,
        reason: "Es la misma persona.",
      };
      return (await call(clinic, "MergePatients", merge)).status === 200;
    },
    async erase() {
      const found = await present(["CANCELLED", "ATTENDED", "NO_SHOW"]);
      if (found === undefined) return false;
      const { patient } = await mustCall(clinic, "GetPatient", { patientId: found.patientId });
      const { version } = patient as { version: number };
      const erasure = { patientId: found.patientId, expectedVersion: version, reason: "Lo pidió." };
      return (await call(clinic, "ErasePatient", erasure)).status === 200;
    },
    async closeDay() {
      const date = day(clinic, -1 - known.length);
      return (await call(clinic, "CreateHoliday", { date, name: "Fiesta", active: true })).status === 200;
    },
    async summarize() {
      await summarizeWaits(database);
      return true;
    },
    async pass() {
      service.advance(DAY_MS);
      return true;
    },
  };
}
