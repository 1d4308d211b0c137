import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import { type Place, type Trace, tracesOf } from "./booking-traces.js";
import type { Operation } from "./linearizable.js";

/** What the callers of a storm were told of its bookings, and when. */
export interface BookingHistory {
  readonly operations: readonly Operation<Trace>[];
  /** Notes a call that was sent at a moment and answered at this one; undefined for no answer ever. */
  note(rpc: string, request: JsonObject, calledAt: number, answer: RestAnswer | undefined): void;
}

/** How many options are remembered, so that a long storm takes no more memory for them than a short one. */
const MAX_OPTIONS = 20_000;

/** Opens an empty history. The clock is a monotonic one, and that of the moments. */
export function openBookingHistory(now = () => performance.now()): BookingHistory {
  const operations: Operation<Trace>[] = [];
  const options = new Map<string, Place>();
  return {
    operations,
    note(rpc, request, calledAt, answer) {
      const answeredAt = answer === undefined ? Number.POSITIVE_INFINITY : now();
      const found = (answer?.body["options"] ?? []) as unknown as readonly (Place & { readonly optionToken: string })[];
      for (const { optionToken, startsAt, endsAt, practitionerId, programId } of found) {
        options.set(optionToken, { startsAt, endsAt, practitionerId, programId });
      }
      for (const token of options.keys()) {
        if (options.size <= MAX_OPTIONS) break;
        options.delete(token);
      }
      for (const call of tracesOf(rpc, request, answer, (token) => options.get(token))) {
        operations.push({ call, calledAt, answeredAt });
      }
    },
  };
}
