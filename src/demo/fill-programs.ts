import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { SchedulingConfigurationService } from "../gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import {
  ProgramRuleDetails_HolidayPolicy,
  ProgramRuleDetails_Recurrence,
} from "../gen/cupo/clinic/v1/program_rule_details_pb.js";
import { ProgramService } from "../gen/cupo/clinic/v1/program_service_pb.js";
import type { DemoClinic, DemoProgram, DemoRule } from "./demo-clinic.js";
import { demoValidity } from "./demo-validity.js";
import type { ReferenceIds } from "./fill-reference-data.js";
import { idOf, makeOnce, unlessThere } from "./make-once.js";

const active = true;
const FIRST_VERSION = 1;

/**
 * Creates the programs, each with its rules, its healthcare services and finally its practitioners. Also requests the
 * first slots of each program, so that these slots can be booked when the filling is done. Background jobs create the
 * other slots.
 */
export async function fillPrograms(
  { programs }: DemoClinic,
  reference: ReferenceIds,
  transport: Transport,
): Promise<void> {
  const schedule = createClient(ProgramService, transport);
  const configuration = createClient(SchedulingConfigurationService, transport);
  const ids = await makeOnce(programs, {
    create: async ({ code, name, location }) => {
      const locationId = idOf(reference.locations, location);
      return (await schedule.createProgram({ code, name, locationId, emergency: false, active })).program?.programId;
    },
    list: async (filter) => (await schedule.listPrograms(filter)).programs.map((it) => it.programId),
  });
  for (const program of programs) {
    const programId = idOf(ids, program.code);
    await fillProgram(program, programId, reference, schedule);
    const practitionerIds = program.practitioners.map((code) => idOf(reference.practitioners, code));
    const request = { programId, practitionerIds, expectedVersion: FIRST_VERSION };
    await unlessThere(configuration.replaceProgramPractitioners(request));
    await schedule.materializeSchedule({ programId });
  }
}

async function fillProgram(
  { rules, services }: DemoProgram,
  programId: string,
  reference: ReferenceIds,
  schedule: Client<typeof ProgramService>,
): Promise<void> {
  for (const rule of rules) await unlessThere(schedule.createProgramRule(ruleOf(programId, rule)));
  const serviceIds = services.map((code) => idOf(reference.services, code));
  await unlessThere(schedule.replaceProgramServices({ programId, serviceIds, expectedVersion: FIRST_VERSION }));
}

function ruleOf(programId: string, { weekdays, ...rule }: DemoRule) {
  return {
    programId,
    ...rule,
    ...demoValidity,
    active,
    weekdays: [...weekdays],
    recurrence: ProgramRuleDetails_Recurrence.WEEKLY,
    holidayPolicy: ProgramRuleDetails_HolidayPolicy.SKIP,
  };
}
