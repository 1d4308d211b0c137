import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import type { ProgramService, UpdateProgramWindowRequestValid } from "../../gen/cupo/clinic/v1/program_service_pb.js";
import {
  type ScheduleMaterialization,
  ScheduleMaterializationSchema,
} from "../../gen/cupo/clinic/v1/schedule_materialization_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestExtension } from "../../postgres/job-queue.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { shareCalendar } from "../../postgres/tables/schedule/calendars.js";
import { countSlots, readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import type { PlannedProgram } from "../../postgres/tables/schedule/plan-sizes.js";
import { programs } from "../../postgres/tables/schedule/programs.js";
import { findTenantSettings } from "../../postgres/tables/settings/tenant-settings.js";
import { HORIZON_DAYS, plannedThrough } from "../../scheduling/horizon.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { changesOf, lockResource, ownerOf, saveResource } from "../resources/resources.js";
import { isMade, materializeProgram, readScheduleInputs } from "./materialize.js";
import { requireRoomForHorizon, requireRoomForSchedule, type SlotLimits } from "./plan-budget.js";
import { toProgramDetails } from "./schedule-details.js";

type MaterializationMethods = Pick<
  Implementation<typeof ProgramService>,
  "materializeSchedule" | "getMaterializationStatus" | "updateProgramWindow"
>;

/** The methods of ProgramService for the materialized schedule and how far it reaches. `now` returns milliseconds since the epoch. */
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
  const effective = ({ horizonDays }: { horizonDays?: number | undefined }) =>
    horizonDays ?? settings.horizonDays ?? HORIZON_DAYS;
  const after = effective({ ...program, ...changes });
  if (after > effective(program)) {
    const horizonOf = (each: PlannedProgram) => (each.programId === programId ? after : each.horizonDays);
    await requireRoomForHorizon(transaction, horizonOf, limits, nowMs);
    requestExtension(transaction);
  }
  return saveResource(call, programs, program, changes, nowMs);
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
    pending: state.isActive && state.through !== undefined && state.through < plannedThrough(state, nowMs),
  });
}
