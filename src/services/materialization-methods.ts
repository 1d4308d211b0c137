import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, principalOf, transactionOf } from "../call.js";
import {
  type ScheduleMaterialization,
  ScheduleMaterializationSchema,
} from "../gen/cupo/clinic/v1/schedule_materialization_pb.js";
import type {
  GetMaterializationStatusRequestValid,
  MaterializeScheduleRequestValid,
  ScheduleService,
} from "../gen/cupo/clinic/v1/schedule_service_pb.js";
import { shareCalendar } from "../postgres/calendars.js";
import { countSlots, readMaterialization } from "../postgres/materialization.js";
import { programs } from "../postgres/programs.js";
import { findResource } from "../postgres/resources.js";
import { horizonFrom, materializeProgram } from "./materialize.js";
import { requireFound } from "./preconditions.js";
import { lockResource } from "./resources.js";

type MaterializationMethods = Pick<
  ServiceImpl<typeof ScheduleService>,
  "materializeSchedule" | "getMaterializationStatus"
>;

/** The methods of ScheduleService that are about the materialized schedule. `now` gives milliseconds since the epoch. */
export function createMaterializationMethods(now: () => number): MaterializationMethods {
  return {
    async materializeSchedule(message, { values }) {
      const { programId } = message as MaterializeScheduleRequestValid;
      shareCalendar(transactionOf(values));
      await lockResource(values, programs, programId);
      await materializeProgram(transactionOf(values), programId, now());
      callOf(values).effects.push({ resourceType: "Schedule", resourceId: programId, action: "UPDATE" });
      return { materialization: await describe(values, programId, now()) };
    },
    async getMaterializationStatus(message, { values }) {
      const { programId } = message as GetMaterializationStatusRequestValid;
      requireFound(await findResource(transactionOf(values), principalOf(values), programs, programId));
      return { materialization: await describe(values, programId, now()) };
    },
  };
}

async function describe(values: ContextValues, programId: string, nowMs: number): Promise<ScheduleMaterialization> {
  const [state, counts] = await Promise.all([
    readMaterialization(transactionOf(values), programId),
    countSlots(transactionOf(values), programId, new Date(nowMs)),
  ]);
  return create(ScheduleMaterializationSchema, {
    programId,
    generation: state.generation,
    ...(state.through === undefined ? {} : { materializedThrough: state.through }),
    ...(state.at === undefined ? {} : { materializedAt: timestampFromDate(state.at) }),
    openSlotCount: counts.open,
    bookedSlotCount: counts.booked,
    retainedSlotCount: counts.retained,
    pending: state.through !== undefined && state.through < horizonFrom(nowMs).through,
  });
}
