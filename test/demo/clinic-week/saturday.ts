import { expect } from "vitest";
import type { WriteTask } from "./tasks.js";
import { DATES, given } from "./week.js";

/** The week is closed. */
export function saturday(task: WriteTask): void {
  task("List whose appointment is later than the clinic promises", async (week) => {
    week.itIs("Saturday", "12:00");
    const { opportunityBreaches } = await week.supervisor.opportunity.listOpportunityBreaches({
      dateFrom: DATES.Monday,
      dateTo: DATES.Saturday,
    });
    expect(opportunityBreaches).toEqual([]);
  });

  task("Have all bookings of the week looked over", async (week) => {
    const { invariantReport } = await week.supervisor.operations.verifyInvariants({});
    expect(given(invariantReport)).toMatchObject({
      findings: [],
      liveAppointmentCount: 10,
      countedBookingCount: 9,
      overbookedAppointmentCount: 1,
    });
  });
}
