import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, principalOf, transactionOf } from "../call.js";
import type { ProgramRule } from "../gen/cupo/access/v1/program_rule_pb.js";
import type {
  CreateProgramRequestValid,
  CreateProgramRuleRequestValid,
  GetProgramPractitionersRequestValid,
  GetProgramRequestValid,
  GetProgramRuleRequestValid,
  GetProgramServicesRequestValid,
  ListProgramRulesRequestValid,
  ReplaceProgramServicesRequestValid,
  ScheduleService,
} from "../gen/cupo/clinic/v1/schedule_service_pb.js";
import { shareCalendar } from "../postgres/calendars.js";
import { type ProgramRuleRecord, readRules, sendRuleInsert } from "../postgres/program-rules.js";
import { programPractitioners, programServices, programs, readProgramSet } from "../postgres/programs.js";
import { healthcareServices, locations } from "../postgres/reference-data.js";
import { findResource } from "../postgres/resources.js";
import { createHolidayMethods } from "./holiday-methods.js";
import { createMaterializationMethods } from "./materialization-methods.js";
import { remakeProgram } from "./materialize.js";
import { idAfter } from "./page-keys.js";
import { cutPage, readPage } from "./pages.js";
import { requireFound } from "./preconditions.js";
import { requireSoundRule, shownTime } from "./program-rule-change.js";
import { replaceProgramSet } from "./program-sets.js";
import { createResource, listResources, lockResource, requireReferences } from "./resources.js";
import {
  holidayPolicyName,
  toProgram,
  toProgramPractitioners,
  toProgramRule,
  toProgramServices,
} from "./schedule-messages.js";
import { createSchedulePreviewMethods } from "./schedule-preview-methods.js";

/** Programs, their rules, services and practitioners, and holidays, for internal callers. `now`: ms since the epoch. */
export function createScheduleService(now: () => number): ServiceImpl<typeof ScheduleService> {
  return {
    async createProgram(message, { values }) {
      const { code, name, emergency, locationId, active } = message as CreateProgramRequestValid;
      await requireReferences(values, [{ field: "locationId", table: locations, id: locationId }]);
      return {
        program: toProgram(createResource(values, programs, { code, name, emergency, locationId, active }, now())),
      };
    },
    async getProgram(message, { values }) {
      return { program: toProgram(await findProgram(values, (message as GetProgramRequestValid).programId)) };
    },
    async listPrograms(message, { values }) {
      const { active, code, locationId, emergency } = message;
      const { rows, next } = await listResources(values, programs, message, { active, code, locationId, emergency });
      return { programs: rows.map(toProgram), ...next };
    },
    async replaceProgramServices(message, { values }) {
      const { programId, serviceIds, expectedVersion } = message as ReplaceProgramServicesRequestValid;
      const references = serviceIds.map((id, i) => ({ field: `serviceIds[${i}]`, table: healthcareServices, id }));
      const ids = serviceIds.toSorted();
      const set = await replaceProgramSet(values, programServices, { programId, ids, expectedVersion, references });
      callOf(values).effects.push({
        resourceType: "ProgramServices",
        resourceId: programId,
        action: "UPDATE",
        version: set.version,
      });
      return { programServices: toProgramServices(programId, set) };
    },
    async getProgramServices(message, { values }) {
      const { programId } = message as GetProgramServicesRequestValid;
      await findProgram(values, programId);
      const set = await readProgramSet(transactionOf(values), programServices, programId);
      return { programServices: toProgramServices(programId, set) };
    },
    async getProgramPractitioners(message, { values }) {
      const { programId } = message as GetProgramPractitionersRequestValid;
      await findProgram(values, programId);
      const set = await readProgramSet(transactionOf(values), programPractitioners, programId);
      return { programPractitioners: toProgramPractitioners(programId, set) };
    },
    async createProgramRule(message, { values }) {
      return { programRule: await createRule(message as CreateProgramRuleRequestValid, values, now()) };
    },
    async getProgramRule(message, { values }) {
      const { programId, ruleId } = message as GetProgramRuleRequestValid;
      await findProgram(values, programId);
      const rules = await readRules(transactionOf(values), programId);
      return { programRule: toProgramRule(requireFound(rules.find(({ id }) => id === ruleId))) };
    },
    async listProgramRules(message, { values }) {
      return listRules(message as ListProgramRulesRequestValid, values);
    },
    ...createHolidayMethods(now),
    ...createMaterializationMethods(now),
    ...createSchedulePreviewMethods(now),
  };
}

async function findProgram(values: ContextValues, id: string) {
  return requireFound(await findResource(transactionOf(values), principalOf(values), programs, id));
}

/** A program has few rules, since they cannot overlap, so a page is cut from all of them. */
async function listRules(request: ListProgramRulesRequestValid, values: ContextValues) {
  const { programId, active } = request;
  await findProgram(values, programId);
  const filters = [programId, active];
  const page = readPage(request, "program rules", filters);
  const after = idAfter(page) ?? "";
  const all = await readRules(transactionOf(values), programId);
  const matching = all.filter((rule) => rule.id > after && (active === undefined || rule.active === active));
  const { rows, next } = cutPage(matching, page, ({ id }) => [id], "program rules", filters);
  return { programRules: rows.map(toProgramRule), ...next };
}

async function createRule(
  request: CreateProgramRuleRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<ProgramRule> {
  const transaction = transactionOf(values);
  shareCalendar(transaction);
  const [, others] = await Promise.all([
    lockResource(values, programs, request.programId),
    readRules(transaction, request.programId),
  ]);
  const rule: ProgramRuleRecord = {
    id: callOf(values).newId(),
    programId: request.programId,
    active: request.active,
    dailyCapacity: request.dailyCapacity,
    slotDurationMinutes: request.slotDurationMinutes,
    startsAtLocal: shownTime(request.startsAtLocal),
    endsAtLocal: shownTime(request.endsAtLocal),
    recurrence: "WEEKLY",
    weekdays: request.weekdays,
    validFrom: request.validFrom,
    validTo: request.validTo,
    holidayDates: request.holidayDates,
    holidayPolicy: holidayPolicyName(request.holidayPolicy),
    version: 1,
  };
  requireSoundRule(rule, others);
  sendRuleInsert(transaction, rule, new Date(nowMs));
  await remakeProgram(transaction, rule.programId, nowMs);
  callOf(values).effects.push({ resourceType: "ProgramRule", resourceId: rule.id, action: "CREATE", version: 1 });
  return toProgramRule(rule);
}
