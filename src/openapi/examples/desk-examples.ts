import { demo } from "./demo-ids.js";
import { type Day, example, exampleOf, type RequestExamples } from "./request-example.js";

const entry = { example: "CreateWaitlistEntry", member: "waitlistEntry.id" } as const;
const userCase = { example: "CreateCase", member: "userAttentionCase.id" } as const;
const block = { example: "CreateScheduleBlock", member: "scheduleBlock.scheduleBlockId" } as const;

/** Examples of operations on waitlist entries, cases and schedule blocks, and of the change feed. */
export function deskExamples(day: Day): RequestExamples {
  return {
    GetWaitlistEntry: exampleOf("waitlistEntryId", entry),
    ListWaitlistEntries: example({ statuses: ["ACTIVE"], pageSize: 20 }),
    MatchSlot: example({
      programId: demo.program.primary,
      practitionerId: demo.practitioner.mora,
      startsAt: `${day(1)}T08:00:00-05:00`,
    }),
    ChangeWaitlistEntry: exampleOf("waitlistEntryId", entry, {
      dateFrom: day(1),
      dateTo: day(60),
      preferredPeriods: ["MORNING", "AFTERNOON"],
      expectedVersion: 1,
    }),
    CloseWaitlistEntry: exampleOf("waitlistEntryId", entry, { reason: "Ya no necesita la cita.", expectedVersion: 1 }),
    GetCase: exampleOf("userAttentionCaseId", userCase),
    ListCases: example({ statuses: ["RECEIVED", "OPEN"], pageSize: 20 }),
    TakeCase: exampleOf("userAttentionCaseId", userCase, { expectedVersion: 1 }),
    CloseCase: exampleOf("userAttentionCaseId", userCase, {
      reason: "Se llamó y se le explicó la demora.",
      expectedVersion: 1,
    }),
    CreateScheduleBlock: example({
      practitionerId: demo.practitioner.salcedo,
      startsAt: `${day(40)}T08:00:00-05:00`,
      endsAt: `${day(40)}T12:00:00-05:00`,
      kind: "MEETING",
      note: "Curso de actualización.",
    }),
    GetScheduleBlock: exampleOf("scheduleBlockId", block),
    ListScheduleBlocks: example({ dateFrom: day(0), dateTo: day(90) }),
    UpdateScheduleBlock: exampleOf("scheduleBlockId", block, {
      endsAt: `${day(40)}T13:00:00-05:00`,
      expectedVersion: 1,
    }),
    CancelScheduleBlock: exampleOf("scheduleBlockId", block, { expectedVersion: 1 }),
    ListEvents: example({ resourceTypes: ["APPOINTMENT", "PATIENT"], pageSize: 20 }),
  };
}
