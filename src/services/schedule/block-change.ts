import type { Transaction } from "../../call.js";
import { conflict, validationFailed } from "../../errors.js";
import { findProgramsOf } from "../../postgres/tables/appointments/booked-practitioners.js";
import { findProgramsAt } from "../../postgres/tables/schedule/availability.js";
import type { BlockTarget, ScheduleBlockRecord } from "../../postgres/tables/schedule/schedule-blocks.js";
import { formatInstant, localDateAt } from "../../scheduling/local-clock.js";
import type { SpanChange } from "./remake-span.js";

/** The highest number of displaced appointments that one response lists. */
const MAX_SHOWN = 200;
const MAX_DAYS = 366;
const MAX_DURATION_MS = MAX_DAYS * 86_400_000;

type BlockTimes = Pick<ScheduleBlockRecord, "startsAt" | "endsAt">;

/**
 * Returns the change that a block makes to the slots of programs. `programIds` is the result of {@link programsOf}.
 * `before` holds the previous times of the block; undefined for a new block or if the times stay the same.
 */
export function changeByBlock(
  programIds: readonly string[],
  block: ScheduleBlockRecord,
  before: BlockTimes | undefined,
  { maxOpenSlots }: { readonly maxOpenSlots: number },
): SpanChange {
  return {
    programIds,
    span: {
      from: localDateAt(Math.min(block.startsAt.getTime(), before?.startsAt.getTime() ?? Number.POSITIVE_INFINITY)),
      through: localDateAt(Math.max(block.endsAt.getTime(), before?.endsAt.getTime() ?? 0)),
    },
    changes: { block },
    practitionerId: block.practitionerId,
    displaced: { limit: MAX_SHOWN, blockId: block.id },
    maxOpenSlots,
  };
}

/** Requires that a block ends after its start, lasts at most 366 days and ends in the future. Otherwise throws 422. */
export function requireTimesAhead({ startsAt, endsAt }: BlockTimes, nowMs: number): void {
  const duration = endsAt.getTime() - startsAt.getTime();
  if (duration <= 0 || duration > MAX_DURATION_MS) {
    const message = `endsAt must be after startsAt, and at most ${MAX_DAYS} days after it`;
    throw validationFailed([{ code: "INVALID_RANGE", field: "endsAt", message }]);
  }
  if (endsAt.getTime() <= nowMs) {
    const message = `the value must be in the future, after ${formatInstant(nowMs)}`;
    throw validationFailed([{ code: "OUT_OF_RANGE", field: "endsAt", message }]);
  }
}

/** Requires that a block was not cancelled. Otherwise throws 409. */
export function requireInForce({ cancelledAt }: ScheduleBlockRecord): void {
  if (cancelledAt === undefined) return;
  const message = "the block was cancelled and cannot change";
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "scheduleBlockId", message });
}

/** Requires that a block has not ended, because a past block can change no slot. Otherwise throws 409. */
export function requireNotOver({ endsAt }: ScheduleBlockRecord, nowMs: number): void {
  if (endsAt.getTime() > nowMs) return;
  throw conflict({
    code: "STATE_NOT_ALLOWED",
    field: "scheduleBlockId",
    message: "the block is over and cannot change",
  });
}

/** Returns the ids of the programs whose slots a block can affect. */
export function programsOf(
  transaction: Transaction,
  { practitionerId, locationId, programId }: BlockTarget,
  now: Date,
): readonly string[] | Promise<readonly string[]> {
  if (practitionerId !== undefined) return findProgramsOf(transaction, practitionerId, now);
  if (locationId !== undefined) return findProgramsAt(transaction, locationId);
  return programId === undefined ? [] : [programId];
}
