import type { Appointments } from "./storm-appointments.js";
import { attend } from "./storm-attendants.js";
import { plan } from "./storm-planners.js";
import type { Storm } from "./storm-terms.js";
import { receive } from "./storm-visits.js";

/** What a storm does, and has done of each at least one thing with success whatever the machine. */
export const STORM_RPCS = [
  "SearchAppointmentOptions",
  "BookAppointment",
  "BookAppointmentAt",
  "OverbookAppointment",
  "RescheduleAppointment",
  "CancelAppointment",
  "ConfirmAppointment",
  "CheckInAppointment",
  "MarkAppointmentAttended",
  "MarkAppointmentNoShow",
  "CorrectAppointmentStatus",
  "MergePatients",
  "UpdateProgramRule",
  "ReplaceProgramPractitioners",
  "CreateHoliday",
  "UpdateHoliday",
  "MaterializeSchedule",
  "CreateScheduleBlock",
  "CancelScheduleBlock",
  "UpdatePractitioner",
  "ListRetainedAppointments",
  "SubstitutePractitioner",
  "AcceptRetainedAppointments",
] as const;

/** How many callers are about appointments to come, how many about those of the hour, and how many about the schedule. */
const ATTENDANTS = 8;
const RECEPTIONISTS = 1;
const PLANNERS = 2;

/**
 * Lets many at once search, book, move, cancel, confirm, receive and merge patients, while some change what the schedule is made
 * from, until it is over. Each caller waits for its answers; what it does next is chance.
 */
export async function runStorm(storm: Storm): Promise<void> {
  const appointments: Appointments = new Map();
  const attendants = Array.from({ length: ATTENDANTS }, () => attend(storm, appointments));
  const planners = Array.from({ length: PLANNERS }, (_, first) => plan(storm, first));
  const receptionists = Array.from({ length: RECEPTIONISTS }, () => receive(storm, appointments));
  await Promise.all([...attendants, ...receptionists, ...planners]);
}
