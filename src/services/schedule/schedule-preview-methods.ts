import { create } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import { ProgramRuleDetails_HolidayPolicy } from "../../gen/cupo/clinic/v1/program_rule_details_pb.js";
import type { PreviewRuleChangeRequestValid, ProgramService } from "../../gen/cupo/clinic/v1/program_service_pb.js";
import { type SchedulePreview, SchedulePreviewSchema } from "../../gen/cupo/clinic/v1/schedule_preview_pb.js";
import type { Implementation } from "../../implementation.js";
import { readAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import { practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import { readRules } from "../../postgres/tables/schedule/program-rules.js";
import { programPractitioners, programs, readProgramSet } from "../../postgres/tables/schedule/programs.js";
import { plannedDays } from "../../scheduling/horizon.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";
import { requireFound } from "../resources/preconditions.js";
import { changesOf, requireReferences } from "../resources/resources.js";
import { previewRemake } from "./materialize.js";
import { enlargingField, requireRoomForPlan, type SlotLimits } from "./plan-budget.js";
import type { PlanChanges } from "./plan-slots.js";
import { mergeRule, requireValidRule, withRule } from "./program-rule-change.js";

type PreviewMethods = Pick<Implementation<typeof ProgramService>, "previewRuleChange" | "previewPractitionerChange">;

const MAX_SHOWN = 200;

/**
 * The methods of ProgramService that preview how a change affects slots and appointments. `now` returns milliseconds
 * since the epoch.
 */
export function createSchedulePreviewMethods(now: () => number, limits: SlotLimits): PreviewMethods {
  return {
    async previewRuleChange(request, call) {
      return { schedulePreview: await previewRule(request, call, limits, now()) };
    },
    async previewPractitionerChange({ programId, practitionerIds }, call) {
      const nowMs = now();
      await requireProgram(call, programId);
      const references = practitionerIds.map((id, i) => ({ field: `practitionerIds[${i}]`, table: practitioners, id }));
      await requireReferences(call, references, { table: programs, id: programId });
      const [rules, { ids }, state] = await readPlan(call, programId);
      const before = { rules, practitioners: ids.length };
      const after = { rules, practitioners: practitionerIds.length };
      await requireRoomForPlan(
        call.transaction,
        { before, after, days: plannedDays(state), field: "practitionerIds" },
        limits,
        nowMs,
      );
      return { schedulePreview: await preview(call, programId, { practitionerIds }, nowMs) };
    },
  };
}

/** Reads the rules, the practitioners and the horizon of a program. */
function readPlan({ transaction }: ReadyCall, programId: string) {
  return Promise.all([
    readRules(transaction, programId),
    readProgramSet(transaction, programPractitioners, programId),
    readMaterialization(transaction, programId),
  ]);
}

async function requireProgram(call: ReadyCall, id: string): Promise<void> {
  requireFound(await findResource(call.transaction, call.principal, programs, id), "programId");
}

async function previewRule(
  request: PreviewRuleChangeRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
): Promise<SchedulePreview> {
  const { programId, ruleId } = request;
  const [, [rules, { ids }, state]] = await Promise.all([requireProgram(call, programId), readPlan(call, programId)]);
  const rule = requireFound(
    rules.find(({ id }) => id === ruleId),
    "ruleId",
  );
  const changes = changesOf(request);
  const merged = mergeRule(rule, changes, ProgramRuleDetails_HolidayPolicy);
  const sent = new Set(Object.keys(changes));
  requireValidRule(merged, rules, sent);
  const changed = withRule(rules, merged);
  const before = { rules, practitioners: ids.length };
  const change = {
    before,
    after: { ...before, rules: changed },
    days: plannedDays(state),
    field: enlargingField(sent),
  };
  await requireRoomForPlan(call.transaction, change, limits, nowMs);
  return preview(call, programId, { rules: changed }, nowMs);
}

async function preview(
  call: ReadyCall,
  programId: string,
  changes: PlanChanges,
  nowMs: number,
): Promise<SchedulePreview> {
  const transaction = call.transaction;
  const found = await previewRemake(transaction, programId, changes, nowMs, MAX_SHOWN);
  const displaced = await readAppointments(transaction, found.firstDisplacedIds);
  return create(SchedulePreviewSchema, {
    programId,
    ...(found.through === undefined ? {} : { previewedThrough: found.through }),
    addedSlotCount: found.added,
    withdrawnSlotCount: found.withdrawn,
    displacedAppointmentCount: found.displaced,
    displacedAppointments: displaced.map((appointment) => toAppointmentDetails(appointment, appointment.displacement)),
  });
}
