import { create } from "@bufbuild/protobuf";
import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { principalOf, transactionOf } from "../call.js";
import { type SchedulePreview, SchedulePreviewSchema } from "../gen/cupo/clinic/v1/schedule_preview_pb.js";
import type {
  ListRetainedAppointmentsRequestValid,
  PreviewPractitionerChangeRequestValid,
  PreviewRuleChangeRequestValid,
  ScheduleService,
} from "../gen/cupo/clinic/v1/schedule_service_pb.js";
import { listRetainedAppointments, readAppointments } from "../postgres/appointment-lists.js";
import { readRules } from "../postgres/program-rules.js";
import { programs } from "../postgres/programs.js";
import { practitioners } from "../postgres/reference-data.js";
import { findResource } from "../postgres/resources.js";
import { toAppointmentDetails } from "./appointment-messages.js";
import { pageOfAppointments } from "./appointment-read-methods.js";
import { previewRemake } from "./materialize.js";
import type { PlanChanges } from "./plan-slots.js";
import { requireFound } from "./preconditions.js";
import { mergeRule, requireSoundRule } from "./program-rule-change.js";
import { changesOf, requireReferences } from "./resources.js";

type PreviewMethods = Pick<
  ServiceImpl<typeof ScheduleService>,
  "previewRuleChange" | "previewPractitionerChange" | "listRetainedAppointments"
>;

const MAX_SHOWN = 200;

/** The methods of ScheduleService about what a change does to appointments. `now` gives milliseconds since the epoch. */
export function createSchedulePreviewMethods(now: () => number): PreviewMethods {
  return {
    async previewRuleChange(message, { values }) {
      return { schedulePreview: await previewRule(message as PreviewRuleChangeRequestValid, values, now()) };
    },
    async previewPractitionerChange(message, { values }) {
      const { programId, practitionerIds } = message as PreviewPractitionerChangeRequestValid;
      await requireProgram(values, programId);
      const references = practitionerIds.map((id, i) => ({ field: `practitionerIds[${i}]`, table: practitioners, id }));
      await requireReferences(values, references);
      return { schedulePreview: await preview(values, programId, { practitionerIds }, now()) };
    },
    async listRetainedAppointments(message, { values }) {
      const request = message as ListRetainedAppointmentsRequestValid;
      const { programId } = request;
      await requireProgram(values, programId);
      return pageOfAppointments(request, "retained appointments", [programId], (page) =>
        listRetainedAppointments(transactionOf(values), programId, new Date(now()), page),
      );
    },
  };
}

async function requireProgram(values: ContextValues, id: string): Promise<void> {
  requireFound(await findResource(transactionOf(values), principalOf(values), programs, id));
}

async function previewRule(
  request: PreviewRuleChangeRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<SchedulePreview> {
  const { programId, ruleId } = request;
  const [, rules] = await Promise.all([requireProgram(values, programId), readRules(transactionOf(values), programId)]);
  const rule = requireFound(rules.find(({ id }) => id === ruleId));
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return preview(values, programId, { rules }, nowMs);
  const merged = mergeRule(rule, changes);
  requireSoundRule(merged, rules);
  const changed = rules.map((other) => (other.id === ruleId ? merged : other));
  return preview(values, programId, { rules: changed }, nowMs);
}

async function preview(
  values: ContextValues,
  programId: string,
  changes: PlanChanges,
  nowMs: number,
): Promise<SchedulePreview> {
  const transaction = transactionOf(values);
  const found = await previewRemake(transaction, programId, changes, nowMs, MAX_SHOWN);
  const retained = await readAppointments(transaction, found?.firstRetainedIds ?? []);
  return create(SchedulePreviewSchema, {
    programId,
    ...(found === undefined ? {} : { previewedThrough: found.through }),
    addedSlotCount: found?.added ?? 0,
    withdrawnSlotCount: found?.withdrawn ?? 0,
    retainedAppointmentCount: found?.retained ?? 0,
    retainedAppointments: retained.map((appointment) => toAppointmentDetails(appointment, appointment.retained)),
  });
}
