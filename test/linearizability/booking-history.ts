import type { JsonObject } from "@bufbuild/protobuf";
import type { RestAnswer } from "../support/rest-request.js";
import { type Held, type Placement, type Trace, tracesOf } from "./booking-traces.js";
import type { Operation } from "./linearizable.js";

/** The calls of a storm and their answers, with times. */
export interface BookingHistory {
  readonly operations: readonly Operation<Trace>[];
  /** Records a call that was sent at `calledAt` and answered now. An undefined answer means that it was lost. */
  note(rpc: string, request: JsonObject, calledAt: number, answer: RestAnswer | undefined): void;
  /** Records a hold that no call made, but a job between `since` and now, and its end if it has already ended. */
  noteOffer(held: Held, since: number, hasEnded: boolean): void;
}

/** The most options to remember, so that a long storm needs no more memory than a short one. */
const MAX_OPTIONS = 20_000;

/** Creates an empty history. `now` is a monotonic clock, the same as that of `calledAt`. */
export function openBookingHistory(now = () => performance.now()): BookingHistory {
  const operations: Operation<Trace>[] = [];
  const options = new Map<string, Placement & { readonly holdId?: string }>();
  return {
    operations,
    note(rpc, request, calledAt, answer) {
      const answeredAt = answer === undefined ? Number.POSITIVE_INFINITY : now();
      for (const { optionToken, startsAt, endsAt, practitionerId, programId, holdId } of optionsIn(answer)) {
        const placement = { startsAt, endsAt, practitionerId, programId };
        options.set(optionToken, holdId === undefined ? placement : { ...placement, holdId });
      }
      for (const token of options.keys()) {
        if (options.size <= MAX_OPTIONS) break;
        options.delete(token);
      }
      for (const call of tracesOf(rpc, request, answer, (token) => options.get(token))) {
        operations.push({ call, calledAt, answeredAt });
      }
    },
    noteOffer(held, calledAt, hasEnded) {
      const answeredAt = now();
      operations.push({ call: held, calledAt, answeredAt });
      if (hasEnded) operations.push({ call: { kind: "RELEASED", holdId: held.holdId }, calledAt, answeredAt });
    },
  };
}

type KnownOption = Placement & { readonly optionToken: string; readonly holdId?: string };

/** Returns the options of a search, and the option of a new hold. */
function optionsIn(answer: RestAnswer | undefined): readonly KnownOption[] {
  const { options = [], hold } = (answer?.body ?? {}) as { options?: readonly KnownOption[]; hold?: KnownOption };
  return hold?.optionToken === undefined ? options : [...options, hold];
}
