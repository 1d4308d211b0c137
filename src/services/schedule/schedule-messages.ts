import { create } from "@bufbuild/protobuf";
import { type Holiday, HolidaySchema } from "../../gen/cupo/access/v1/holiday_pb.js";
import { type Program, ProgramSchema } from "../../gen/cupo/access/v1/program_pb.js";
import {
  type ProgramPractitioners,
  ProgramPractitionersSchema,
} from "../../gen/cupo/access/v1/program_practitioners_pb.js";
import {
  type ProgramRule,
  ProgramRule_HolidayPolicy,
  ProgramRule_Recurrence,
  ProgramRuleSchema,
} from "../../gen/cupo/access/v1/program_rule_pb.js";
import type { ResourceRecord } from "../../postgres/tables/resources/resources.js";
import type { HolidayRecord } from "../../postgres/tables/schedule/holidays.js";
import type { ProgramRuleRecord } from "../../postgres/tables/schedule/program-rules.js";
import type { ProgramAttributes, ProgramSet } from "../../postgres/tables/schedule/programs.js";

export function toProgram({
  id,
  code,
  name,
  emergency,
  locationId,
  active,
  version,
}: ResourceRecord<ProgramAttributes>): Program {
  return create(ProgramSchema, { id, code, name, emergency, locationId, active, version });
}

export function toProgramRule(rule: ProgramRuleRecord): ProgramRule {
  return create(ProgramRuleSchema, {
    ...rule,
    weekdays: [...rule.weekdays],
    holidayDates: [...rule.holidayDates],
    recurrence: ProgramRule_Recurrence[rule.recurrence],
    holidayPolicy: ProgramRule_HolidayPolicy[rule.holidayPolicy],
  });
}

export function toProgramPractitioners(programId: string, { ids, version }: ProgramSet): ProgramPractitioners {
  return create(ProgramPractitionersSchema, { programId, practitionerIds: [...ids], version });
}

export function toHoliday(holiday: HolidayRecord): Holiday {
  return create(HolidaySchema, holiday);
}
