import { expect } from "vitest";
import {
  ProgramRuleDetails_HolidayPolicy as HolidayPolicy,
  ProgramRuleDetails_Recurrence as Recurrence,
} from "../../../src/gen/cupo/clinic/v1/program_rule_details_pb.js";
import type { WriteTask } from "./tasks.js";
import { given } from "./week.js";

const active = true;

/** The configuration before the week. */
export function before(task: WriteTask): void {
  task("Load the lists of a desk", async ({ reception: { programs, reference, catalogs }, learn, id }) => {
    learn(
      "program",
      (await programs.listPrograms({})).programs.map((it) => [it.code, it.programId]),
    );
    learn(
      "location",
      (await reference.listLocations({})).locations.map((it) => [it.code, it.locationId]),
    );
    const { healthcareServices } = await reference.listHealthcareServices({});
    learn(
      "service",
      healthcareServices.map((it) => [it.code, it.serviceId]),
    );
    const { practitioners } = await reference.listPractitioners({});
    learn(
      "practitioner",
      practitioners.map((it) => [it.code, it.practitionerId]),
    );
    const { appointmentTypes } = await catalogs.listAppointmentTypes({});
    learn(
      "appointment type",
      appointmentTypes.map((it) => [it.code, it.appointmentTypeId]),
    );
    const { requestSources } = await catalogs.listRequestSources({});
    learn(
      "request source",
      requestSources.map((it) => [it.code, it.requestSourceId]),
    );
    const { cancellationReasons } = await catalogs.listCancellationReasons({});
    learn(
      "cancellation reason",
      cancellationReasons.map((it) => [it.code, it.cancellationReasonId]),
    );
    const { noShowReasons } = await catalogs.listNoShowReasons({});
    learn(
      "no-show reason",
      noShowReasons.map((it) => [it.code, it.noShowReasonId]),
    );
    expect(id("program", "PRIMARIA")).not.toBe(id("program", "ESPECIALISTAS"));
  });

  task("Open a program with a new practitioner", async (week) => {
    const { programs, reference, configuration } = week.supervisor;
    const newcomer = { code: "P-09", fullName: "Beatriz Elena Salazar Duque", registrationNumber: "TP-209001", active };
    const { practitioner } = await reference.createPractitioner(newcomer);
    const practitionerIds = [given(practitioner).practitionerId];
    const { program } = await programs.createProgram({
      code: "NUTRICION",
      name: "Nutrición, Chía",
      locationId: week.id("location", "CHIA"),
      emergency: false,
      active,
    });
    const { programId } = given(program);
    await programs.createProgramRule({
      programId,
      active,
      dailyCapacity: 8,
      slotDurationMinutes: 30,
      startsAtLocal: "08:00",
      endsAtLocal: "12:00",
      recurrence: Recurrence.WEEKLY,
      weekdays: [1, 3, 5],
      validFrom: "2027-03-01",
      validTo: "2027-12-31",
      holidayPolicy: HolidayPolicy.SKIP,
    });
    const serviceIds = [week.id("service", "NUTRI")];
    await programs.replaceProgramServices({ programId, serviceIds, expectedVersion: 1 });
    await configuration.replaceProgramPractitioners({ programId, practitionerIds, expectedVersion: 1 });
    const { materialization } = await programs.materializeSchedule({ programId });
    expect(given(materialization).openSlotCount).toBeGreaterThanOrEqual(3 * 8);
    week.learn("program", [["NUTRICION", programId]]);
  });
}
