import type { Transaction } from "../../call.js";
import { conflict, validationFailed } from "../../errors.js";
import { findProgramsOf } from "../../postgres/tables/appointments/booked-practitioners.js";
import { findProgramsAt } from "../../postgres/tables/schedule/availability.js";
import type { BlockTarget, ScheduleBlockRecord } from "../../postgres/tables/schedule/schedule-blocks.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import type { SpanChange } from "./remake-span.js";

/** How many of the appointments that a block retains its answers show. */
const MAX_SHOWN = 200;
const MAX_DURATION_MS = 366 * 86_400_000;

type BlockTimes = Pick<ScheduleBlockRecord, "startsAt" | "endsAt">;

/**
 * The change of slots that a block as it is to be brings about in the programs that {@link programsOf} gives; `before` is as it
 * was, where it is not new.
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
    retained: { limit: MAX_SHOWN, blockId: block.id },
    maxOpenSlots,
  };
}

/** Refuses times that no block has, which are those of two fields together, and an end that is past: 422. */
export function requireTimesAhead({ startsAt, endsAt }: BlockTimes, nowMs: number): void {
  const duration = endsAt.getTime() - startsAt.getTime();
  if (duration <= 0 || duration > MAX_DURATION_MS) {
    const message = "the end must be after the start, and at most 366 days after it";
    throw validationFailed([{ code: "INVALID_RANGE", field: "endsAt", message }]);
  }
  if (endsAt.getTime() <= nowMs) {
    throw validationFailed([{ code: "OUT_OF_RANGE", field: "endsAt", message: "the block would be over already" }]);
  }
}

/** Refuses a change of a block that was called off: 409. */
export function requireInForce({ cancelledAt }: ScheduleBlockRecord): void {
  if (cancelledAt === undefined) return;
  const message = "the block was cancelled";
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "scheduleBlockId", message });
}

/** Refuses a change of a block that is over, which could change no slot: 409. */
export function requireNotOver({ endsAt }: ScheduleBlockRecord, nowMs: number): void {
  if (endsAt.getTime() > nowMs) return;
  throw conflict({ code: "STATE_NOT_ALLOWED", field: "scheduleBlockId", message: "the block is over" });
}

/** The programs whose slots a block touches. */
export function programsOf(
  transaction: Transaction,
  { practitionerId, locationId, programId }: BlockTarget,
  now: Date,
): readonly string[] | Promise<readonly string[]> {
  if (practitionerId !== undefined) return findProgramsOf(transaction, practitionerId, now);
  if (locationId !== undefined) return findProgramsAt(transaction, locationId);
  return programId === undefined ? [] : [programId];
}
