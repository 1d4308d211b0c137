import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import type { ProgramService } from "../../gen/cupo/clinic/v1/program_service_pb.js";
import {
  type ScheduleMaterialization,
  ScheduleMaterializationSchema,
} from "../../gen/cupo/clinic/v1/schedule_materialization_pb.js";
import type { Implementation } from "../../implementation.js";
import { findResource } from "../../postgres/tables/resources/resources.js";
import { shareCalendar } from "../../postgres/tables/schedule/calendars.js";
import { countSlots, readMaterialization } from "../../postgres/tables/schedule/materialization.js";
import { programs } from "../../postgres/tables/schedule/programs.js";
import { horizonFrom } from "../../scheduling/horizon.js";
import { requireFound } from "../resources/preconditions.js";
import { lockResource, ownerOf } from "../resources/resources.js";
import { isMade, materializeProgram, readScheduleInputs } from "./materialize.js";
import { requireRoomForSchedule, type SlotLimits } from "./plan-budget.js";

type MaterializationMethods = Pick<
  Implementation<typeof ProgramService>,
  "materializeSchedule" | "getMaterializationStatus"
>;

/** The methods of ProgramService for the materialized schedule. `now` returns milliseconds since the epoch. */
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
      materializeProgram(call.transaction, schedule, nowMs);
      const ownedBy = ownerOf(program);
      call.effects.push({ resourceType: "Schedule", resourceId: programId, action: "UPDATE", ownedBy });
      return { materialization: await describe(call, programId, nowMs) };
    },
    async getMaterializationStatus({ programId }, call) {
      requireFound(await findResource(call.transaction, call.principal, programs, programId), "programId");
      return { materialization: await describe(call, programId, now()) };
    },
  };
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
    pending: state.isActive && state.through !== undefined && state.through < horizonFrom(nowMs).through,
  });
}
