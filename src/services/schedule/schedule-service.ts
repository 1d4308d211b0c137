import type { ReadyCall } from "../../call.js";
import type { ProgramRule } from "../../gen/cupo/access/v1/program_rule_pb.js";
import type {
  CreateProgramRuleRequestValid,
  ListProgramRulesRequestValid,
  ScheduleService,
} from "../../gen/cupo/clinic/v1/schedule_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { healthcareServices, locations } from "../../postgres/tables/catalogs/reference-data.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { shareCalendar } from "../../postgres/tables/schedule/calendars.js";
import { insertRule, type ProgramRuleRecord, readRules } from "../../postgres/tables/schedule/program-rules.js";
import {
  programPractitioners,
  programServices,
  programs,
  readProgramSet,
} from "../../postgres/tables/schedule/programs.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound } from "../resources/preconditions.js";
import { createResource, listResources, lockResource, requireReferences } from "../resources/resources.js";
import { createHolidayMethods } from "./holiday-methods.js";
import { createMaterializationMethods } from "./materialization-methods.js";
import { remakeProgram } from "./materialize.js";
import { requireSoundRule, shownTime } from "./program-rule-change.js";
import { replaceProgramSet } from "./program-sets.js";
import {
  holidayPolicyName,
  toProgram,
  toProgramPractitioners,
  toProgramRule,
  toProgramServices,
} from "./schedule-messages.js";
import { createSchedulePreviewMethods } from "./schedule-preview-methods.js";

/** Programs, their rules, services and practitioners, and holidays, for internal callers. `now`: ms since the epoch. */
export function createScheduleService(now: () => number): Implementation<typeof ScheduleService> {
  return {
    async createProgram({ code, name, emergency, locationId, active }, call) {
      await requireReferences(call, [{ field: "locationId", table: locations, id: locationId }]);
      return {
        program: toProgram(createResource(call, programs, { code, name, emergency, locationId, active }, now())),
      };
    },
    async getProgram(request, call) {
      return { program: toProgram(await findProgram(call, request.programId)) };
    },
    async listPrograms(request, call) {
      const { active, code, locationId, emergency } = request;
      const { rows, next } = await listResources(call, programs, request, { active, code, locationId, emergency });
      return { programs: rows.map(toProgram), ...next };
    },
    async replaceProgramServices({ programId, serviceIds, expectedVersion }, call) {
      const references = serviceIds.map((id, i) => ({ field: `serviceIds[${i}]`, table: healthcareServices, id }));
      const ids = serviceIds.toSorted();
      const set = await replaceProgramSet(call, programServices, { programId, ids, expectedVersion, references });
      call.effects.push({
        resourceType: "ProgramServices",
        resourceId: programId,
        action: "UPDATE",
        version: set.version,
      });
      return { programServices: toProgramServices(programId, set) };
    },
    async getProgramServices({ programId }, call) {
      await findProgram(call, programId);
      const set = await readProgramSet(call.transaction, programServices, programId);
      return { programServices: toProgramServices(programId, set) };
    },
    async getProgramPractitioners({ programId }, call) {
      await findProgram(call, programId);
      const set = await readProgramSet(call.transaction, programPractitioners, programId);
      return { programPractitioners: toProgramPractitioners(programId, set) };
    },
    async createProgramRule(request, call) {
      return { programRule: await createRule(request, call, now()) };
    },
    async getProgramRule({ programId, ruleId }, call) {
      await findProgram(call, programId);
      const rules = await readRules(call.transaction, programId);
      return { programRule: toProgramRule(requireFound(rules.find(({ id }) => id === ruleId))) };
    },
    async listProgramRules(request, call) {
      return listRules(request, call);
    },
    ...createHolidayMethods(now),
    ...createMaterializationMethods(now),
    ...createSchedulePreviewMethods(now),
  };
}

async function findProgram(call: ReadyCall, id: string) {
  return requireFound(await findResource(call.transaction, call.principal, programs, id));
}

/** A program has few rules, since they cannot overlap, so a page is cut from all of them. */
async function listRules(request: ListProgramRulesRequestValid, call: ReadyCall) {
  const { programId, active } = request;
  await findProgram(call, programId);
  const filters = [programId, active];
  const page = readPage(request, "program rules", filters);
  const after = idAfter(page) ?? "";
  const all = await readRules(call.transaction, programId);
  const matching = all.filter((rule) => rule.id > after && (active === undefined || rule.active === active));
  const { rows, next } = cutPage(matching, page, ({ id }) => [id], "program rules", filters);
  return { programRules: rows.map(toProgramRule), ...next };
}

async function createRule(
  request: CreateProgramRuleRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<ProgramRule> {
  const transaction = call.transaction;
  shareCalendar(transaction);
  const [, others] = await Promise.all([
    lockResource(call, programs, request.programId),
    readRules(transaction, request.programId),
  ]);
  const rule: ProgramRuleRecord = {
    id: call.newId(),
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
  insertRule(transaction, rule, new Date(nowMs));
  await remakeProgram(transaction, rule.programId, nowMs);
  call.effects.push({ resourceType: "ProgramRule", resourceId: rule.id, action: "CREATE", version: 1 });
  return toProgramRule(rule);
}
