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
  noteOffer(offer: Held, since: number, hasEnded: boolean): void;
}

/**
 * The most options of searches to remember, so that a long storm needs no more memory than a short one. A caller uses them
 * at once, but the option of a hold at any later time.
 */
const MAX_OPTIONS = 20_000;

/** Creates an empty history. `now` is a monotonic clock, the same as that of `calledAt`. */
export function openBookingHistory(now = () => performance.now()): BookingHistory {
  const operations: Operation<Trace>[] = [];
  const options = new Map<string, Placement>();
  const held = new Map<string, Placement & { readonly holdId: string }>();
  return {
    operations,
    note(rpc, request, calledAt, answer) {
      const answeredAt = answer === undefined ? Number.POSITIVE_INFINITY : now();
      for (const { optionToken, startsAt, endsAt, practitionerId, programId, holdId } of optionsIn(answer)) {
        const placement = { startsAt, endsAt, practitionerId, programId };
        if (holdId === undefined) options.set(optionToken, placement);
        else held.set(optionToken, { ...placement, holdId });
      }
      for (const token of options.keys()) {
        if (options.size <= MAX_OPTIONS) break;
        options.delete(token);
      }
      for (const call of tracesOf(rpc, request, answer, (token) => held.get(token) ?? options.get(token))) {
        operations.push({ call, calledAt, answeredAt });
      }
    },
    noteOffer(offer, calledAt, hasEnded) {
      const answeredAt = now();
      operations.push({ call: offer, calledAt, answeredAt });
      if (hasEnded) operations.push({ call: { kind: "RELEASED", holdId: offer.holdId }, calledAt, answeredAt });
    },
  };
}

type KnownOption = Placement & { readonly optionToken: string; readonly holdId?: string };

/** Returns the options of a search, and the option of a new hold. */
function optionsIn(answer: RestAnswer | undefined): readonly KnownOption[] {
  const { options = [], hold } = (answer?.body ?? {}) as { options?: readonly KnownOption[]; hold?: KnownOption };
  return hold?.optionToken === undefined ? options : [...options, hold];
}
