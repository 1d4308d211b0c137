import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import type { MatchSlotRequestValid } from "../../gen/cupo/clinic/v1/desk_service_pb.js";
import { matchSlot } from "../../postgres/tables/desk/slot-matches.js";
import { periodOf } from "../../scheduling/day-periods.js";
import { localDateAt, startOfLocalDay } from "../../scheduling/local-clock.js";
import { cutPage, readPage } from "../resources/pages.js";
import { toWaitlistEntryDetails } from "./desk-messages.js";
import { deskKeyOf, deskPageOf } from "./desk-pages.js";

/**
 * Returns one page of the active waitlist entries that a slot suits, the oldest first. The slot may be occupied. The
 * page is empty if the schedule has no slot with the program, practitioner and start of the request. Throws 422 on
 * pageToken like {@link readPage}.
 */
export async function listMatches(request: MatchSlotRequestValid, call: ReadyCall, nowMs: number) {
  const { programId, practitionerId } = request;
  const startsAt = timestampDate(request.startsAt);
  const filters = [programId, practitionerId, startsAt.getTime()];
  const page = readPage(request, "entries of a slot", filters);
  const startMs = startsAt.getTime();
  const secondOfDay = Math.floor((startMs - Date.parse(startOfLocalDay(localDateAt(startMs)))) / 1_000);
  const slot = { programId, practitionerId, startsAt, period: periodOf(secondOfDay), now: new Date(nowMs) };
  const found = await matchSlot(call.transaction, slot, deskPageOf(page));
  const { rows, next } = cutPage(found, page, deskKeyOf, "entries of a slot", filters);
  return { waitlistEntries: rows.map(toWaitlistEntryDetails), ...next };
}
