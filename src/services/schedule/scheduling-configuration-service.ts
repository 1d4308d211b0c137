import type { Effect, ReadyCall } from "../../call.js";
import type { Holiday } from "../../gen/cupo/access/v1/holiday_pb.js";
import type { ProgramPractitioners } from "../../gen/cupo/access/v1/program_practitioners_pb.js";
import { type ProgramRule, ProgramRule_HolidayPolicy } from "../../gen/cupo/access/v1/program_rule_pb.js";
import type {
  CreateHolidayRequestValid,
  ReplaceProgramPractitionersRequestValid,
  SchedulingConfigurationService,
  UpdateProgramRequestValid,
  UpdateProgramRuleRequestValid,
} from "../../gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { locations, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { ownCalendar, shareCalendar } from "../../postgres/tables/schedule/calendars.js";
import { type HolidayRecord, insertHoliday } from "../../postgres/tables/schedule/holidays.js";
import { findMaterializedPrograms } from "../../postgres/tables/schedule/materialization.js";
import { writeRule } from "../../postgres/tables/schedule/program-rules.js";
import { programPractitioners, programs } from "../../postgres/tables/schedule/programs.js";
import { plannedDays } from "../../scheduling/horizon.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { changesOf, lockReferring, lockResource, ownerOf, saveResource } from "../resources/resources.js";
import { readScheduleInputs, remakeProgram } from "./materialize.js";
import { enlargingField, requireRoomForPlan, type SlotLimits } from "./plan-budget.js";
import { mergeRule, requireValidRule, withRule } from "./program-rule-change.js";
import type { SchedulePorts } from "./program-service.js";
import { lockProgramSet, replaceProgramSet } from "./program-sets.js";
import { remakeDate } from "./remake-span.js";
import { toHoliday, toProgram, toProgramPractitioners, toProgramRule } from "./schedule-messages.js";

/**
 * Returns the service that updates programs and their rules, replaces their practitioners, and creates holidays
 * (specification section 4.7). A change of a program, its rules or its practitioners locks the row of the program. A
 * new holiday locks the calendar of the tenant exclusively.
 */
export function createSchedulingConfigurationService({
  now,
  slotLimits,
}: SchedulePorts): Implementation<typeof SchedulingConfigurationService> {
  return {
    async updateProgram(request, call) {
      return { program: toProgram(await updateProgram(request, call, slotLimits, now())) };
    },
    async updateProgramRule(request, call) {
      return { programRule: await updateRule(request, call, slotLimits, now()) };
    },
    async replaceProgramPractitioners(request, call) {
      return { programPractitioners: await replacePractitioners(request, call, slotLimits, now()) };
    },
    async createHoliday(request, call) {
      return { holiday: await createHoliday(request, call, now()) };
    },
  };
}

async function updateProgram(
  request: UpdateProgramRequestValid,
  call: ReadyCall,
  { perTenant: maxOpenSlots }: SlotLimits,
  nowMs: number,
) {
  const { programId: _, ...changes } = changesOf(request);
  const canRemake = changes.active !== undefined || changes.locationId !== undefined;
  if (canRemake) shareCalendar(call.transaction);
  const references = [{ field: "locationId", table: locations, id: changes.locationId }];
  const program = await lockReferring(call, programs, request.programId, references);
  requireVersion(program, request.expectedVersion);
  const updated = saveResource(call, programs, program, changes, nowMs);
  const isOtherwise = updated.active !== program.active || updated.locationId !== program.locationId;
  if (isOtherwise) {
    const schedule = await readScheduleInputs(call.transaction, program.id, nowMs);
    await remakeProgram(call.transaction, { ...schedule, maxOpenSlots }, undefined, nowMs);
  }
  return updated;
}

async function updateRule(
  request: UpdateProgramRuleRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
): Promise<ProgramRule> {
  const transaction = call.transaction;
  shareCalendar(transaction);
  const [program, schedule] = await Promise.all([
    lockResource(call, programs, request.programId),
    readScheduleInputs(transaction, request.programId, nowMs),
  ]);
  const { rules, practitionerIds } = schedule.inputs;
  const rule = requireFound(
    rules.find(({ id }) => id === request.ruleId),
    "ruleId",
  );
  requireVersion(rule, request.expectedVersion);
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return toProgramRule(rule);
  const merged = mergeRule(rule, changes, ProgramRule_HolidayPolicy);
  const sent = new Set(Object.keys(changes));
  requireValidRule(merged, rules, sent);
  const changed = withRule(rules, merged);
  const before = { rules, practitioners: practitionerIds.length };
  const after = { ...before, rules: changed };
  await requireRoomForPlan(
    transaction,
    { before, after, days: plannedDays(schedule.state), field: enlargingField(sent) },
    limits,
    nowMs,
  );
  writeRule(transaction, merged, new Date(nowMs));
  await remakeProgram(transaction, schedule, { rules: changed }, nowMs);
  const { id: resourceId, version } = merged;
  const ownedBy = ownerOf(program);
  record(call, { resourceType: "ProgramRule", resourceId, action: "UPDATE", version, ownedBy });
  return toProgramRule(merged);
}

async function replacePractitioners(
  { programId, practitionerIds, expectedVersion }: ReplaceProgramPractitionersRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
): Promise<ProgramPractitioners> {
  const references = practitionerIds.map((id, i) => ({ field: `practitionerIds[${i}]`, table: practitioners, id }));
  const { transaction } = call;
  shareCalendar(transaction);
  const replacement = { programId, ids: practitionerIds, expectedVersion, references };
  const [{ before, ownedBy }, schedule] = await Promise.all([
    lockProgramSet(call, programPractitioners, replacement),
    readScheduleInputs(transaction, programId, nowMs, practitionerIds),
  ]);
  const { rules } = schedule.inputs;
  const change = {
    before: { rules, practitioners: before.ids.length },
    after: { rules, practitioners: practitionerIds.length },
    days: plannedDays(schedule.state),
    field: "practitionerIds",
  };
  await requireRoomForPlan(transaction, change, limits, nowMs);
  const set = replaceProgramSet(transaction, programPractitioners, replacement, before);
  await remakeProgram(transaction, schedule, { practitionerIds }, nowMs);
  record(call, {
    resourceType: "ProgramPractitioners",
    resourceId: programId,
    action: "UPDATE",
    version: set.version,
    ownedBy,
  });
  return toProgramPractitioners(programId, set);
}

async function createHoliday(
  { date, name, active }: CreateHolidayRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<Holiday> {
  const holiday: HolidayRecord = { id: call.newId(), date, name, active, version: 1 };
  ownCalendar(call.transaction);
  if (active) {
    const programIds = await findMaterializedPrograms(call.transaction);
    await remakeDate(call.transaction, programIds, { date, isHoliday: true }, nowMs);
  }
  insertHoliday(call.transaction, holiday, new Date(nowMs));
  record(call, { resourceType: "Holiday", resourceId: holiday.id, action: "CREATE", version: 1 });
  return toHoliday(holiday);
}

function record(call: ReadyCall, effect: Effect): void {
  call.effects.push(effect);
}
