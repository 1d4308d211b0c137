import type { RestAnswer } from "../support/rest-request.js";
import type { Entry } from "./kill-storm-journal.js";

/** What a request left: how many rows of the audit trail, and which changes of appointments, sorted. */
export interface Effects {
  readonly audited: number;
  /** `ID VERSION` of an appointment. */
  readonly changes: readonly string[];
}

interface Outcome {
  /** Absent where it was refused. */
  readonly appointment?: AnsweredAppointment;
}

/** An appointment as staff see it, or as a reschedule answers it. */
interface AnsweredAppointment {
  readonly appointmentId?: string;
  readonly id?: string;
  readonly version: number;
}

const NOTHING: Effects = { audited: 0, changes: [] };

/** What a request is to have left by its answer: nothing as long as there was none. */
export function effectsOf({ rpc, success }: Entry): Effects {
  if (success === undefined) return NOTHING;
  switch (rpc) {
    case "SubstitutePractitioner":
      return ofOutcomes(success, changeOf);
    case "AcceptRetainedAppointments":
      return ofOutcomes(success, () => []);
    case "MergePatients":
      return ofMerge(success);
    default:
      return { audited: 1, changes: changeOf(success.body["appointment"] as AnsweredAppointment | undefined) };
  }
}

/** The two patients and everything that moved; the answer does not tell the versions of appointments. */
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

function changeOf(appointment: AnsweredAppointment | undefined): string[] {
  return appointment === undefined ? [] : [`${appointment.appointmentId ?? appointment.id} ${appointment.version}`];
}
