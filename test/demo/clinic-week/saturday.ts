import { expect } from "vitest";
import type { WriteTask } from "./tasks.js";
import { findPatient } from "./usual-steps.js";
import { DATES, given } from "./week.js";

/** Saturday: a review of promised times, an erasure and the verification of all bookings. */
export function saturday(task: WriteTask): void {
  task("List appointments later than promised", async (week) => {
    week.itIs("Saturday", "12:00");
    const { opportunityBreaches } = await week.supervisor.opportunity.listOpportunityBreaches({
      dateFrom: DATES.Monday,
      dateTo: DATES.Saturday,
    });
    expect(opportunityBreaches).toMatchObject([{ requestedOn: DATES.Monday, appointmentOn: DATES.Friday }]);
  });

  task("Erase a patient", async (week) => {
    const { patientId, version } = await findPatient(week.supervisor, "Isabella Trujillo Perdomo");
    const reason = "Radicado 2027-0117, a solicitud de la titular.";
    const { erasure } = await week.supervisor.directory.erasePatient({ patientId, expectedVersion: version, reason });
    expect(given(erasure)).toMatchObject({ patientId, reason });
  });

  task("Verify all bookings", async (week) => {
    const { invariantReport } = await week.supervisor.operations.verifyInvariants({});
    expect(given(invariantReport)).toMatchObject({
      findings: [],
      liveAppointmentCount: 18,
      countedBookingCount: 17,
      overbookedAppointmentCount: 1,
    });
  });
}
