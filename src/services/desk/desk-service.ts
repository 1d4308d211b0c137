import type { DeskService } from "../../gen/cupo/clinic/v1/desk_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { findCase } from "../../postgres/tables/desk/user-attention-cases.js";
import { findWaitlistEntry } from "../../postgres/tables/desk/waitlist.js";
import { requireFound } from "../resources/preconditions.js";
import { recordCaseAccess } from "./case-access.js";
import { closeCase, listCasesPage, takeCase } from "./desk-cases.js";
import { toUserAttentionCaseDetails, toWaitlistEntryDetails } from "./desk-messages.js";
import { closeEntry, listEntries } from "./desk-waitlist.js";
import { listMatches } from "./slot-matches.js";
import { changeWish } from "./wish-change.js";

/**
 * Creates the service for the waitlist and the user-attention cases at the clinic's desks. None of its operations
 * changes a closed entry or case. `now` returns milliseconds since the epoch.
 */
export function createDeskService(now: () => number): Implementation<typeof DeskService> {
  return {
    async getWaitlistEntry({ waitlistEntryId }, call) {
      const entry = requireFound(await findWaitlistEntry(call.transaction, waitlistEntryId), "waitlistEntryId");
      return { waitlistEntry: toWaitlistEntryDetails(entry) };
    },
    async listWaitlistEntries(request, call) {
      return listEntries(request, call);
    },
    async closeWaitlistEntry(request, call) {
      return { waitlistEntry: toWaitlistEntryDetails(await closeEntry(request, call, now())) };
    },
    async matchSlot(request, call) {
      return listMatches(request, call, now());
    },
    async changeWaitlistEntry(request, call) {
      return { waitlistEntry: toWaitlistEntryDetails(await changeWish(request, call, now())) };
    },
    async getCase({ userAttentionCaseId }, call) {
      const kept = requireFound(await findCase(call.transaction, userAttentionCaseId), "userAttentionCaseId");
      await recordCaseAccess([kept], call);
      return { userAttentionCase: toUserAttentionCaseDetails(kept) };
    },
    async listCases(request, call) {
      return listCasesPage(request, call);
    },
    async takeCase(request, call) {
      return { userAttentionCase: toUserAttentionCaseDetails(await takeCase(request, call, now())) };
    },
    async closeCase(request, call) {
      return { userAttentionCase: toUserAttentionCaseDetails(await closeCase(request, call, now())) };
    },
  };
}
