import type { Appointments } from "./storm-appointments.js";
import { attend } from "./storm-attendants.js";
import type { Storm } from "./storm-context.js";
import { plan } from "./storm-planners.js";
import { receive } from "./storm-visits.js";

/** The RPCs that a storm calls. It lasts until each has succeeded at least once. */
export const STORM_RPCS = [
  "SearchAppointmentOptions",
  "BookAppointment",
  "HoldAppointmentOption",
  "ReleaseHold",
  "BookAppointmentAt",
  "OverbookAppointment",
  "RescheduleAppointment",
  "CancelAppointment",
  "ConfirmAppointment",
  "CheckInAppointment",
  "MarkAppointmentAttended",
  "MarkAppointmentNoShow",
  "CorrectAppointmentStatus",
  "ChangeAppointment",
  "BookSeries",
  "BookTogether",
  "MoveSeries",
  "CancelSeries",
  "MergePatients",
  "UpdateProgramRule",
  "ReplaceProgramPractitioners",
  "CreateHoliday",
  "UpdateHoliday",
  "MaterializeSchedule",
  "CreateScheduleBlock",
  "CancelScheduleBlock",
  "UpdatePractitioner",
  "ListDisplacedAppointments",
  "SubstitutePractitioner",
  "SwapPractitioners",
  "AcceptDisplacedAppointments",
] as const;

/** Number of callers that book, move and cancel, that receive walk-ins, and that change the schedule. */
const ATTENDANTS = 8;
const RECEPTIONISTS = 1;
const PLANNERS = 2;

/**
 * Runs concurrent callers that search, book, move, cancel, confirm, receive and merge, while others change the
 * schedule, until the storm is over. Each caller waits for its answer, then chooses its next call at random.
 */
export async function runStorm(storm: Storm): Promise<void> {
  const appointments: Appointments = new Map();
  const attendants = Array.from({ length: ATTENDANTS }, () => attend(storm, appointments));
  const planners = Array.from({ length: PLANNERS }, (_, first) => plan(storm, first));
  const receptionists = Array.from({ length: RECEPTIONISTS }, () => receive(storm, appointments));
  await Promise.all([...attendants, ...receptionists, ...planners]);
}
