import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import {
  type PreviewProgramWindowChangeRequestValid,
  type ProgramService,
  type ProgramWindowPreview,
  ProgramWindowPreviewSchema,
  type UpdateProgramWindowRequestValid,
} from "../../gen/cupo/clinic/v1/program_service_pb.js";
import {
  type ScheduleMaterialization,
  ScheduleMaterializationSchema,
} from "../../gen/cupo/clinic/v1/schedule_materialization_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestExtension } from "../../postgres/job-queue.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { shareCalendar } from "../../postgres/tables/schedule/calendars.js";
import {
  countSlots,
  type MaterializationState,
  readMaterialization,
} from "../../postgres/tables/schedule/materialization.js";
import type { PlannedProgram } from "../../postgres/tables/schedule/plan-sizes.js";
import { programs } from "../../postgres/tables/schedule/programs.js";
import { type BookingWindow, countProgramWindowEffects } from "../../postgres/tables/settings/settings-effects.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { HORIZON_DAYS, plannedThrough } from "../../scheduling/horizon.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { changesOf, lockResource, ownerOf, saveResource } from "../resources/resources.js";
import { isMade, materializeProgram, readScheduleInputs } from "./materialize.js";
import { requireRoomForHorizon, requireRoomForSchedule, type SlotLimits } from "./plan-budget.js";
import { toProgramDetails } from "./schedule-details.js";

type MaterializationMethods = Pick<
  Implementation<typeof ProgramService>,
  "materializeSchedule" | "getMaterializationStatus" | "updateProgramWindow" | "previewProgramWindowChange"
>;

/**
 * The methods of ProgramService for the slots of a program, and for its horizon and minimum notice. `now` returns
 * milliseconds since the epoch.
 */
export function createMaterializationMethods(now: () => number, limits: SlotLimits): MaterializationMethods {
  return {
    async materializeSchedule({ programId }, call) {
      const nowMs = now();
      shareCalendar(call.transaction);
      const [program, schedule] = await Promise.all([
        lockResource(call, programs, programId),
        readScheduleInputs(call.transaction, programId, nowMs),
      ]);
      await requireRoomForSchedule(call.transaction, schedule.state, limits, nowMs);
      await materializeProgram(call.transaction, schedule, nowMs);
      const ownedBy = ownerOf(program);
      call.effects.push({ resourceType: "Schedule", resourceId: programId, action: "UPDATE", ownedBy });
      return { materialization: await describe(call, programId, nowMs) };
    },
    async getMaterializationStatus({ programId }, call) {
      requireFound(await findResource(call.transaction, call.principal, programs, programId), "programId");
      return { materialization: await describe(call, programId, now()) };
    },
    async updateProgramWindow(request, call) {
      return { program: toProgramDetails(await updateWindow(request, call, limits, now())) };
    },
    async previewProgramWindowChange(request, call) {
      return { programWindowPreview: await previewWindow(request, call, limits, now()) };
    },
  };
}

async function updateWindow(
  request: UpdateProgramWindowRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
) {
  const { transaction } = call;
  const { programId } = request;
  const [program, settings] = await Promise.all([
    lockResource(call, programs, programId),
    findTenantSettings(transaction),
  ]);
  requireVersion(program, request.expectedVersion);
  const { programId: _, ...changes } = changesOf(request);
  const { before, after } = windowsOf(program, changes, settings);
  if (after.horizonDays > before.horizonDays) {
    await roomFor(call, programId, after.horizonDays, limits, nowMs);
    requestExtension(transaction);
  }
  return saveResource(call, programs, program, changes, nowMs);
}

/**
 * Returns how a change of a program's horizon or minimum notice affects slots and appointments. Writes nothing. Throws
 * 404 for an unknown program, and 422 if a longer horizon would need too many slots.
 */
async function previewWindow(
  request: PreviewProgramWindowChangeRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
): Promise<ProgramWindowPreview> {
  const { transaction, principal } = call;
  const { programId } = request;
  const [found, settings] = await Promise.all([
    findResource(transaction, principal, programs, programId),
    findTenantSettings(transaction),
  ]);
  const { programId: _, ...changes } = changesOf(request);
  const windows = windowsOf(requireFound(found, "programId"), changes, settings);
  const [addedSlotCount, { hiddenSlots, appointmentsBeyond }] = await Promise.all([
    roomFor(call, programId, windows.after.horizonDays, limits, nowMs),
    countProgramWindowEffects(transaction, programId, windows, new Date(nowMs)),
  ]);
  const effects = { hiddenSlotCount: hiddenSlots, appointmentsBeyondHorizonCount: appointmentsBeyond };
  return create(ProgramWindowPreviewSchema, { addedSlotCount, ...effects });
}

/**
 * Returns the horizon and the minimum notice of a program before and after a change. If the program has no value of its
 * own, the value comes from the tenant's settings. If the tenant has none either, the horizon is {@link HORIZON_DAYS},
 * and the minimum notice is undefined, which means 0.
 */
function windowsOf(program: BookingWindow, changes: Partial<BookingWindow>, settings: BookingWindow) {
  const effective = (own: BookingWindow) => ({
    horizonDays: own.horizonDays ?? settings.horizonDays ?? HORIZON_DAYS,
    minimumNoticeMinutes: own.minimumNoticeMinutes ?? settings.minimumNoticeMinutes,
  });
  return { before: effective(program), after: effective({ ...program, ...changes }) };
}

/**
 * Returns the estimated number of slots that a horizon of `days` days adds to a program. Returns 0 for an inactive
 * program and if the schedule does not become longer. Throws 422 if the program or the tenant would exceed its slot
 * limit.
 */
function roomFor(
  { transaction }: ReadyCall,
  programId: string,
  days: number,
  limits: SlotLimits,
  nowMs: number,
): Promise<number> {
  const horizonOf = (each: PlannedProgram) => (each.programId === programId ? days : each.horizonDays);
  return requireRoomForHorizon(transaction, horizonOf, limits, nowMs);
}

async function describe(call: ReadyCall, programId: string, nowMs: number): Promise<ScheduleMaterialization> {
  const [state, counts] = await Promise.all([
    readMaterialization(call.transaction, programId),
    countSlots(call.transaction, programId, new Date(nowMs)),
  ]);
  return create(ScheduleMaterializationSchema, {
    programId,
    generation: state.generation,
    ...(isMade(state) && state.through !== undefined ? { materializedThrough: state.through } : {}),
    ...(state.at === undefined ? {} : { materializedAt: timestampFromDate(state.at) }),
    openSlotCount: counts.open,
    bookedSlotCount: counts.booked,
    displacedSlotCount: counts.retained,
    pending: state.isActive && (state.outdatedFrom !== undefined || isBehind(state, nowMs)),
  });
}

function isBehind({ through, ...reach }: MaterializationState, nowMs: number): boolean {
  return through !== undefined && through < plannedThrough(reach, nowMs);
}
