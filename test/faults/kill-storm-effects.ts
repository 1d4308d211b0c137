import type { RestAnswer } from "../support/rest-request.js";
import type { Entry } from "./kill-storm-journal.js";

/** The traces of a request: the number of audit rows, and the changes of appointments, sorted. */
export interface Effects {
  readonly audited: number;
  /** `ID VERSION` of an appointment. */
  readonly changes: readonly string[];
}

interface Outcome {
  /** Absent if the item was rejected. */
  readonly appointment?: AnsweredAppointment;
}

/** An appointment as staff operations or a reschedule return it. */
interface AnsweredAppointment {
  readonly appointmentId?: string;
  readonly id?: string;
  readonly version: number;
}

const NOTHING: Effects = { audited: 0, changes: [] };

/** Returns the traces that an answer requires; none if there was no success. */
export function effectsOf({ rpc, success }: Entry): Effects {
  if (success === undefined) return NOTHING;
  switch (rpc) {
    case "SubstitutePractitioner":
      return ofOutcomes(success, changeOf);
    case "AcceptDisplacedAppointments":
      return ofOutcomes(success, () => []);
    case "MergePatients":
      return ofMerge(success);
    case "BookSeries":
    case "BookTogether":
    case "MoveSeries":
    case "CancelSeries":
    case "SwapPractitioners":
      return ofAppointments(success);
    default:
      return { audited: 1, changes: changeOf(success.body["appointment"] as AnsweredAppointment | undefined) };
  }
}

/** The two patients and everything that moved. The answer does not contain the versions of appointments. */
function ofMerge({ body }: RestAnswer): Effects {
  const idsOf = (member: string) => (body[member] ?? []) as readonly string[];
  const members = ["movedWaitlistEntryIds", "movedUserAttentionCaseIds", "movedNoteIds"];
  const changes = idsOf("movedAppointmentIds").toSorted();
  return { audited: 2 + changes.length + members.flatMap(idsOf).length, changes };
}

function ofOutcomes({ body }: RestAnswer, changesOf: typeof changeOf): Effects {
  const done = ((body["outcomes"] ?? []) as readonly Outcome[]).filter(({ appointment }) => appointment !== undefined);
  return { audited: done.length, changes: done.flatMap(({ appointment }) => changesOf(appointment)).toSorted() };
}

function ofAppointments({ body }: RestAnswer): Effects {
  const changes = ((body["appointments"] ?? []) as readonly AnsweredAppointment[]).flatMap(changeOf);
  return { audited: changes.length, changes: changes.toSorted() };
}

function changeOf(appointment: AnsweredAppointment | undefined): string[] {
  return appointment === undefined ? [] : [`${appointment.appointmentId ?? appointment.id} ${appointment.version}`];
}
