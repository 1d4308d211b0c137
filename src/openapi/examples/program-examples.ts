import { demo } from "./demo-ids.js";
import { type Day, example, exampleOf, type RequestExamples } from "./request-example.js";

/** Examples for the RPCs of `cupo.access.v1` that configure programs and holidays. */
export const programExamples: RequestExamples = {
  UpdateProgram: example({
    programId: demo.program.specialists,
    name: "Especialistas, sede Suba",
    expectedVersion: 1,
  }),
  UpdateProgramRule: example({
    programId: demo.program.specialists,
    ruleId: demo.rule.specialistsSaturday,
    endsAtLocal: "13:00",
    holidayDates: [],
    expectedVersion: 1,
  }),
  ReplaceProgramPractitioners: example({
    programId: demo.program.specialists,
    practitionerIds: [demo.practitioner.salcedo, demo.practitioner.nanez],
    expectedVersion: 2,
  }),
  CreateHoliday: example({ date: "2027-10-04", name: "Día de la sede", active: true }),
};

const undated: RequestExamples = {
  CreateProgram: example({
    code: "VESPERTINO",
    name: "Consulta vespertina, Chía",
    emergency: false,
    locationId: demo.location.chia,
    active: true,
  }),
  GetProgram: example({ programId: demo.program.primary }),
  UpdateProgramWindow: example({ programId: demo.program.primary, minimumNoticeMinutes: 5, expectedVersion: 1 }),
  PreviewProgramWindowChange: example({ programId: demo.program.primary, horizonDays: 30 }),
  ListPrograms: example({ pageSize: 20, active: true }),
  ReplaceProgramServices: example({
    programId: demo.program.specialists,
    serviceIds: [demo.service.nutrition, demo.service.psychology],
    expectedVersion: 2,
  }),
  GetProgramServices: example({ programId: demo.program.primary }),
  GetProgramPractitioners: example({ programId: demo.program.primary }),
  CreateProgramRule: example({
    programId: demo.program.primary,
    active: true,
    dailyCapacity: 24,
    slotDurationMinutes: 20,
    startsAtLocal: "08:00",
    endsAtLocal: "12:00",
    recurrence: "WEEKLY",
    weekdays: [6],
    validFrom: "2026-01-01",
    validTo: "2099-12-31",
    holidayDates: [],
    holidayPolicy: "SKIP",
  }),
  GetProgramRule: example({ programId: demo.program.primary, ruleId: demo.rule.primaryMorning }),
  ListProgramRules: example({ programId: demo.program.primary }),
  UpdateHoliday: exampleOf(
    "holidayId",
    { example: "ListHolidays", member: "holidays[0].holidayId" },
    { active: false, expectedVersion: 1 },
  ),
  SeedHolidays: example({ year: 2030 }),
  MaterializeSchedule: example({ programId: demo.program.primary }),
  GetMaterializationStatus: example({ programId: demo.program.primary }),
  PreviewRuleChange: example({
    programId: demo.program.primary,
    ruleId: demo.rule.primaryMorning,
    startsAtLocal: "08:00",
  }),
  PreviewPractitionerChange: example({
    programId: demo.program.primary,
    practitionerIds: [demo.practitioner.rios, demo.practitioner.mora],
  }),
  VerifyInvariants: example({}),
};

/**
 * Examples of the operations of `cupo.clinic.v1` on programs, schedules, holidays, free slots, occupancy and
 * opportunity indicators, and of the check of stored data.
 */
export function programAdminExamples(day: Day): RequestExamples {
  return {
    ...undated,
    ListHolidays: example({ dateFrom: day(0), dateTo: day(300) }),
    GetOccupancy: example({ dateFrom: day(1), dateTo: day(7), programId: demo.program.primary }),
    SearchFreeSlots: example({ serviceId: demo.service.general, dateFrom: day(1), dateTo: day(14) }),
    ListOpportunityBreaches: example({ dateFrom: day(-30), dateTo: day(30) }),
    GetOpportunityIndicators: example({
      monthFrom: day(-30).slice(0, 7),
      monthTo: day(0).slice(0, 7),
      groupBy: ["MONTH", "SERVICE"],
    }),
  };
}
