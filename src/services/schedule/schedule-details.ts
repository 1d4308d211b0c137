import { create } from "@bufbuild/protobuf";
import { type HolidayDetails, HolidayDetailsSchema } from "../../gen/cupo/clinic/v1/holiday_details_pb.js";
import { type ProgramDetails, ProgramDetailsSchema } from "../../gen/cupo/clinic/v1/program_details_pb.js";
import {
  type ProgramPractitionersDetails,
  ProgramPractitionersDetailsSchema,
} from "../../gen/cupo/clinic/v1/program_practitioners_details_pb.js";
import {
  type ProgramRuleDetails,
  ProgramRuleDetails_HolidayPolicy,
  ProgramRuleDetails_Recurrence,
  ProgramRuleDetailsSchema,
} from "../../gen/cupo/clinic/v1/program_rule_details_pb.js";
import { type ProgramServices, ProgramServicesSchema } from "../../gen/cupo/clinic/v1/program_services_pb.js";
import type { ResourceRecord } from "../../postgres/tables/resources/resources.js";
import type { HolidayRecord } from "../../postgres/tables/schedule/holidays.js";
import type { ProgramRuleRecord } from "../../postgres/tables/schedule/program-rules.js";
import type { ProgramAttributes, ProgramSet } from "../../postgres/tables/schedule/programs.js";
import { timesOf } from "../resources/resource-times.js";

export function toProgramDetails({ id, ...kept }: ResourceRecord<ProgramAttributes>): ProgramDetails {
  return create(ProgramDetailsSchema, { programId: id, ...kept, ...timesOf(kept) });
}

export function toProgramRuleDetails({ id, ...rule }: ProgramRuleRecord): ProgramRuleDetails {
  return create(ProgramRuleDetailsSchema, {
    ruleId: id,
    ...rule,
    weekdays: [...rule.weekdays],
    holidayDates: [...rule.holidayDates],
    recurrence: ProgramRuleDetails_Recurrence[rule.recurrence],
    holidayPolicy: ProgramRuleDetails_HolidayPolicy[rule.holidayPolicy],
  });
}

export function toProgramPractitionersDetails(
  programId: string,
  { ids, version }: ProgramSet,
): ProgramPractitionersDetails {
  return create(ProgramPractitionersDetailsSchema, { programId, practitionerIds: [...ids], version });
}

export function toProgramServices(programId: string, { ids, version }: ProgramSet): ProgramServices {
  return create(ProgramServicesSchema, { programId, serviceIds: [...ids], version });
}

export function toHolidayDetails({ id, ...holiday }: HolidayRecord): HolidayDetails {
  return create(HolidayDetailsSchema, { holidayId: id, ...holiday });
}
