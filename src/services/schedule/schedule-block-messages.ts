import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Transaction } from "../../call.js";
import {
  type ScheduleBlockDetails,
  ScheduleBlockDetails_Kind,
  ScheduleBlockDetailsSchema,
} from "../../gen/cupo/clinic/v1/schedule_block_details_pb.js";
import {
  type ScheduleBlockEffect,
  ScheduleBlockEffectSchema,
} from "../../gen/cupo/clinic/v1/schedule_block_effect_pb.js";
import { readAppointments } from "../../postgres/tables/appointments/appointment-lists.js";
import type { ScheduleBlockRecord } from "../../postgres/tables/schedule/schedule-blocks.js";
import type { SlotChanges } from "../../postgres/tables/schedule/schedule-preview.js";
import { toAppointmentDetails } from "../appointments/appointment-messages.js";

/** Converts a block record to the ScheduleBlockDetails message. */
export function toScheduleBlockDetails(kept: ScheduleBlockRecord): ScheduleBlockDetails {
  const { id, practitionerId, locationId, programId, startsAt, endsAt, kind, note, cancelledAt, version } = kept;
  return create(ScheduleBlockDetailsSchema, {
    scheduleBlockId: id,
    ...(practitionerId === undefined ? {} : { practitionerId }),
    ...(locationId === undefined ? {} : { locationId }),
    ...(programId === undefined ? {} : { programId }),
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    kind: ScheduleBlockDetails_Kind[kind],
    ...(note === undefined ? {} : { note }),
    ...(cancelledAt === undefined ? {} : { cancelledAt: timestampFromDate(cancelledAt) }),
    version,
    createdAt: timestampFromDate(kept.createdAt),
    updatedAt: timestampFromDate(kept.updatedAt),
  });
}

/**
 * Returns the effect of a block change that was made or previewed. The effect includes the appointments in
 * `firstDisplacedIds` with their current data.
 */
export async function toScheduleBlockEffect(
  transaction: Transaction,
  { added, withdrawn, displaced, firstDisplacedIds }: SlotChanges,
): Promise<ScheduleBlockEffect> {
  const shown = await readAppointments(transaction, firstDisplacedIds);
  return create(ScheduleBlockEffectSchema, {
    withdrawnSlotCount: withdrawn,
    restoredSlotCount: added,
    displacedAppointmentCount: displaced,
    displacedAppointments: shown.map((each) => toAppointmentDetails(each, each.displacement)),
  });
}
