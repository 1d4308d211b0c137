import type { ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import {
  type ProgramRuleDetails,
  ProgramRuleDetails_HolidayPolicy,
} from "../../gen/cupo/clinic/v1/program_rule_details_pb.js";
import {
  type CreateProgramRuleRequestValid,
  type ListProgramRulesRequestValid,
  ProgramService,
} from "../../gen/cupo/clinic/v1/program_service_pb.js";
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
import { plannedDays } from "../../scheduling/horizon.js";
import { nameIn } from "../resources/enum-names.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound } from "../resources/preconditions.js";
import { createResource, listResources, lockResource, ownerOf, requireReferences } from "../resources/resources.js";
import { createHolidayMethods } from "./holiday-methods.js";
import { createMaterializationMethods } from "./materialization-methods.js";
import { askForSchedule, readScheduleInputs, remakeProgram } from "./materialize.js";
import { enlargingField, requireRoomForPlan, type SlotLimits } from "./plan-budget.js";
import { requireValidRule, type SentAttributes, shownTime } from "./program-rule-change.js";
import { lockProgramSet, replaceProgramSet } from "./program-sets.js";
import * as to from "./schedule-details.js";
import { createSchedulePreviewMethods } from "./schedule-preview-methods.js";

/** The dependencies of the schedule services. */
export interface SchedulePorts {
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly slotLimits: SlotLimits;
}

/** The highest number of rules of one program, active or not. Each new rule is compared with all of them. */
const MAX_RULES = 500;

/**
 * Returns the service that creates and reads programs and their rules, replaces their services, and manages slots and
 * horizons. It also lists, updates and seeds holidays, reads the practitioners of a program, and previews changes of
 * its schedule.
 */
export function createProgramService({ now, slotLimits }: SchedulePorts): Implementation<typeof ProgramService> {
  return {
    async createProgram({ code, name, emergency, locationId, active }, call) {
      await requireReferences(call, [{ field: "locationId", table: locations, id: locationId }]);
      return {
        program: to.toProgramDetails(
          createResource(
            call,
            programs,
            { code, name, emergency, locationId, active, horizonDays: undefined, minimumNoticeMinutes: undefined },
            now(),
          ),
        ),
      };
    },
    async getProgram(request, call) {
      return { program: to.toProgramDetails(await findProgram(call, request.programId)) };
    },
    async listPrograms(request, call) {
      const { active, code, locationId, emergency } = request;
      const { rows, next } = await listResources(call, programs, request, { active, code, locationId, emergency });
      return { programs: rows.map(to.toProgramDetails), ...next };
    },
    async replaceProgramServices({ programId, serviceIds, expectedVersion }, call) {
      const references = serviceIds.map((id, i) => ({ field: `serviceIds[${i}]`, table: healthcareServices, id }));
      const ids = serviceIds.toSorted();
      const replacement = { programId, ids, expectedVersion, references };
      const { before, ownedBy } = await lockProgramSet(call, programServices, replacement);
      const set = replaceProgramSet(call.transaction, programServices, replacement, before);
      askForSchedule(call.transaction, programId, now());
      call.effects.push({
        resourceType: "ProgramServices",
        resourceId: programId,
        action: "UPDATE",
        version: set.version,
        ownedBy,
      });
      return { programServices: to.toProgramServices(programId, set) };
    },
    async getProgramServices({ programId }, call) {
      await findProgram(call, programId);
      const set = await readProgramSet(call.transaction, programServices, programId);
      return { programServices: to.toProgramServices(programId, set) };
    },
    async getProgramPractitioners({ programId }, call) {
      await findProgram(call, programId);
      const set = await readProgramSet(call.transaction, programPractitioners, programId);
      return { programPractitioners: to.toProgramPractitionersDetails(programId, set) };
    },
    async createProgramRule(request, call) {
      return { programRule: await createRule(request, call, slotLimits, now()) };
    },
    async getProgramRule({ programId, ruleId }, call) {
      await findProgram(call, programId);
      const rules = await readRules(call.transaction, programId);
      return {
        programRule: to.toProgramRuleDetails(
          requireFound(
            rules.find(({ id }) => id === ruleId),
            "ruleId",
          ),
        ),
      };
    },
    async listProgramRules(request, call) {
      return listRules(request, call);
    },
    ...createHolidayMethods(now),
    ...createMaterializationMethods(now, slotLimits),
    ...createSchedulePreviewMethods(now, slotLimits),
  };
}

async function findProgram(call: ReadyCall, id: string) {
  return requireFound(await findResource(call.transaction, call.principal, programs, id), "programId");
}

/** Returns one page of the rules of a program. All rules are read, because there are at most {@link MAX_RULES}. */
async function listRules(request: ListProgramRulesRequestValid, call: ReadyCall) {
  const { programId, active } = request;
  await findProgram(call, programId);
  const filters = [programId, active];
  const page = readPage(request, "program rules", filters);
  const after = idAfter(page) ?? "";
  const all = await readRules(call.transaction, programId);
  const matching = all.filter((rule) => rule.id > after && (active === undefined || rule.active === active));
  const { rows, next } = cutPage(matching, page, ({ id }) => [id], "program rules", filters);
  return { programRules: rows.map(to.toProgramRuleDetails), ...next };
}

async function createRule(
  request: CreateProgramRuleRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
): Promise<ProgramRuleDetails> {
  const { programId } = request;
  const transaction = call.transaction;
  shareCalendar(transaction);
  const [program, schedule] = await Promise.all([
    lockResource(call, programs, programId),
    readScheduleInputs(transaction, programId, nowMs),
  ]);
  const { rules: others, practitionerIds } = schedule.inputs;
  const rule = ruleOf(request, call.newId());
  requireRoomForRule(others);
  requireValidRule(rule, others, sentByAll);
  const rules = [...others, rule];
  const before = { rules: others, practitioners: practitionerIds.length };
  const days = plannedDays(schedule.state);
  const change = { before, after: { ...before, rules }, days, field: enlargingField(sentByAll) };
  await requireRoomForPlan(transaction, change, limits, nowMs);
  insertRule(transaction, rule, new Date(nowMs));
  await remakeProgram(transaction, schedule, { rules }, nowMs);
  const ownedBy = ownerOf(program);
  call.effects.push({ resourceType: "ProgramRule", resourceId: rule.id, action: "CREATE", version: 1, ownedBy });
  return to.toProgramRuleDetails(rule);
}

/**
 * The names of all fields of a request for a new rule. Absent fields count as sent too, because a new rule has no
 * earlier values to keep.
 */
const sentByAll: SentAttributes = new Set(ProgramService.method.createProgramRule.input.fields.map((f) => f.localName));

function requireRoomForRule({ length }: readonly ProgramRuleRecord[]): void {
  if (length < MAX_RULES) return;
  const message = `the program already has ${MAX_RULES} rules, the most that it may have: change one of them instead`;
  throw validationFailed([{ code: "TOO_MANY", field: "programId", message }]);
}

function ruleOf(request: CreateProgramRuleRequestValid, id: string): ProgramRuleRecord {
  return {
    id,
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
    holidayPolicy: nameIn(ProgramRuleDetails_HolidayPolicy, request.holidayPolicy),
    version: 1,
  };
}
