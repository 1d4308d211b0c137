import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, type Effect, transactionOf } from "../call.js";
import type { Holiday } from "../gen/cupo/access/v1/holiday_pb.js";
import type { ProgramPractitioners } from "../gen/cupo/access/v1/program_practitioners_pb.js";
import type { ProgramRule } from "../gen/cupo/access/v1/program_rule_pb.js";
import type {
  CreateHolidayRequestValid,
  ReplaceProgramPractitionersRequestValid,
  SchedulingConfigurationService,
  UpdateProgramRequestValid,
  UpdateProgramRuleRequestValid,
} from "../gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { ownCalendar, shareCalendar } from "../postgres/calendars.js";
import { type HolidayRecord, sendHolidayInsert } from "../postgres/holidays.js";
import { readRules, sendRuleUpdate } from "../postgres/program-rules.js";
import { programPractitioners, programs } from "../postgres/programs.js";
import { locations, practitioners } from "../postgres/reference-data.js";
import { remakeDate, remakeProgram } from "./materialize.js";
import { requireFound, requireVersion } from "./preconditions.js";
import { mergeRule, requireSoundRule } from "./program-rule-change.js";
import { replaceProgramSet } from "./program-sets.js";
import { changesOf, lockResource, requireReferences, saveResource } from "./resources.js";
import { toHoliday, toProgram, toProgramPractitioners, toProgramRule } from "./schedule-messages.js";

/**
 * Administration of programs, their rules and practitioners, and of holidays (specification section 4.7). Everything that
 * belongs to a program is changed under the lock of its row. `now` gives milliseconds since the epoch.
 */
export function createSchedulingConfigurationService(
  now: () => number,
): ServiceImpl<typeof SchedulingConfigurationService> {
  return {
    async updateProgram(message, { values }) {
      const request = message as UpdateProgramRequestValid;
      const { programId: _, ...changes } = changesOf(request);
      const program = await lockResource(values, programs, request.programId);
      await requireReferences(values, [{ field: "locationId", table: locations, id: changes.locationId }]);
      requireVersion(program, request.expectedVersion);
      return { program: toProgram(saveResource(values, programs, program, changes, now())) };
    },
    async updateProgramRule(message, { values }) {
      return { programRule: await updateRule(message as UpdateProgramRuleRequestValid, values, now()) };
    },
    async replaceProgramPractitioners(message, { values }) {
      const request = message as ReplaceProgramPractitionersRequestValid;
      return { programPractitioners: await replacePractitioners(request, values, now()) };
    },
    async createHoliday(message, { values }) {
      return { holiday: await createHoliday(message as CreateHolidayRequestValid, values, now()) };
    },
  };
}

async function updateRule(
  request: UpdateProgramRuleRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<ProgramRule> {
  const transaction = transactionOf(values);
  shareCalendar(transaction);
  const [, rules] = await Promise.all([
    lockResource(values, programs, request.programId),
    readRules(transaction, request.programId),
  ]);
  const rule = requireFound(rules.find(({ id }) => id === request.ruleId));
  requireVersion(rule, request.expectedVersion);
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return toProgramRule(rule);
  const merged = mergeRule(rule, changes);
  requireSoundRule(merged, rules);
  sendRuleUpdate(transaction, merged, new Date(nowMs));
  await remakeProgram(transaction, request.programId, nowMs);
  record(values, { resourceType: "ProgramRule", resourceId: merged.id, action: "UPDATE", version: merged.version });
  return toProgramRule(merged);
}

async function replacePractitioners(
  { programId, practitionerIds, expectedVersion }: ReplaceProgramPractitionersRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<ProgramPractitioners> {
  const references = practitionerIds.map((id, i) => ({ field: `practitionerIds[${i}]`, table: practitioners, id }));
  shareCalendar(transactionOf(values));
  const set = await replaceProgramSet(values, programPractitioners, {
    programId,
    ids: practitionerIds,
    expectedVersion,
    references,
  });
  await remakeProgram(transactionOf(values), programId, nowMs);
  record(values, {
    resourceType: "ProgramPractitioners",
    resourceId: programId,
    action: "UPDATE",
    version: set.version,
  });
  return toProgramPractitioners(programId, set);
}

async function createHoliday(
  { date, name, active }: CreateHolidayRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<Holiday> {
  const holiday: HolidayRecord = { id: callOf(values).newId(), date, name, active, version: 1 };
  ownCalendar(transactionOf(values));
  if (active) await remakeDate(transactionOf(values), date, true, nowMs);
  sendHolidayInsert(transactionOf(values), holiday, new Date(nowMs));
  record(values, { resourceType: "Holiday", resourceId: holiday.id, action: "CREATE", version: 1 });
  return toHoliday(holiday);
}

function record(values: ContextValues, effect: Effect): void {
  callOf(values).effects.push(effect);
}
