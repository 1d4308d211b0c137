import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict } from "../../errors.js";
import { UserAttentionCase_Status } from "../../gen/cupo/access/v1/user_attention_case_pb.js";
import { WaitlistEntry_Status } from "../../gen/cupo/access/v1/waitlist_entry_pb.js";
import type {
  CloseCaseRequestValid,
  CloseWaitlistEntryRequestValid,
  DeskService,
  ListCasesRequest,
  ListWaitlistEntriesRequest,
  TakeCaseRequestValid,
} from "../../gen/cupo/clinic/v1/desk_service_pb.js";
import type { Implementation } from "../../implementation.js";
import type { Closure } from "../../postgres/tables/desk/closures.js";
import {
  type DeskCaseRecord,
  findCase,
  listCases,
  lockCase,
  writeCaseClosure,
  writeCaseStatus,
} from "../../postgres/tables/desk/user-attention-cases.js";
import {
  type DeskWaitlistEntryRecord,
  findWaitlistEntry,
  listWaitlistEntries,
  lockWaitlistEntry,
  writeWaitlistEntryClosure,
} from "../../postgres/tables/desk/waitlist.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound } from "../resources/preconditions.js";
import { toCaseDetails, toWaitlistEntryDetails } from "./desk-messages.js";

/**
 * The waitlist and the user-attention cases, for the clinic's desks. What is closed stays as it is. `now` gives
 * milliseconds since the epoch.
 */
export function createDeskService(now: () => number): Implementation<typeof DeskService> {
  return {
    async getWaitlistEntry({ waitlistEntryId }, call) {
      const entry = requireFound(await findWaitlistEntry(call.transaction, waitlistEntryId));
      return { waitlistEntry: toWaitlistEntryDetails(entry) };
    },
    async listWaitlistEntries(request, call) {
      return listEntries(request, call);
    },
    async closeWaitlistEntry(request, call) {
      const entry = await closeEntry(request, call, now());
      return { waitlistEntry: toWaitlistEntryDetails(entry) };
    },
    async getCase({ caseId }, call) {
      return { userAttentionCase: toCaseDetails(requireFound(await findCase(call.transaction, caseId))) };
    },
    async listCases(request, call) {
      return listCasesPage(request, call);
    },
    async takeCase(request, call) {
      return { userAttentionCase: toCaseDetails(await takeCase(request, call)) };
    },
    async closeCase(request, call) {
      return { userAttentionCase: toCaseDetails(await closeCase(request, call, now())) };
    },
  };
}

async function listEntries(request: ListWaitlistEntriesRequest, call: ReadyCall) {
  const { patientId, serviceId, closed } = request;
  const status = request.status === undefined ? undefined : WaitlistEntry_Status[request.status];
  const filters = [status, patientId, serviceId, closed];
  const page = readPage(request, "waitlist entries", filters);
  const limits = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listWaitlistEntries(call.transaction, { status, patientId, serviceId, closed }, limits);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "waitlist entries", filters);
  return { waitlistEntries: rows.map(toWaitlistEntryDetails), ...next };
}

async function closeEntry(
  { waitlistEntryId, reason }: CloseWaitlistEntryRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<DeskWaitlistEntryRecord> {
  const entry = requireFound(await lockWaitlistEntry(call.transaction, waitlistEntryId));
  if (entry.closedAt !== undefined) throw stateNotAllowed("waitlistEntryId", "the entry is closed already");
  const closure = closureNow(call, reason, nowMs);
  writeWaitlistEntryClosure(call.transaction, entry.id, closure);
  call.effects.push({ resourceType: "WaitlistEntry", resourceId: entry.id, action: "UPDATE" });
  return { ...entry, ...closure };
}

async function listCasesPage(request: ListCasesRequest, call: ReadyCall) {
  const { patientId, closed } = request;
  const status = request.status === undefined ? undefined : UserAttentionCase_Status[request.status];
  const filters = [status, patientId, closed];
  const page = readPage(request, "cases", filters);
  const limits = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listCases(call.transaction, { status, patientId, closed }, limits);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "cases", filters);
  return { userAttentionCases: rows.map(toCaseDetails), ...next };
}

async function takeCase({ caseId }: TakeCaseRequestValid, call: ReadyCall): Promise<DeskCaseRecord> {
  const kept = requireFound(await lockCase(call.transaction, caseId));
  if (kept.closedAt !== undefined) throw stateNotAllowed("caseId", "the case is closed");
  if (kept.status !== "RECEIVED") throw stateNotAllowed("caseId", `the case is ${kept.status}, not RECEIVED`);
  const taken: DeskCaseRecord = { ...kept, status: "OPEN" };
  writeCaseStatus(call.transaction, taken);
  call.effects.push({ resourceType: "UserAttentionCase", resourceId: kept.id, action: "UPDATE" });
  return taken;
}

async function closeCase(
  { caseId, reason }: CloseCaseRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<DeskCaseRecord> {
  const kept = requireFound(await lockCase(call.transaction, caseId));
  if (kept.closedAt !== undefined) throw stateNotAllowed("caseId", "the case is closed already");
  const closure = closureNow(call, reason, nowMs);
  writeCaseClosure(call.transaction, kept.id, closure);
  call.effects.push({ resourceType: "UserAttentionCase", resourceId: kept.id, action: "UPDATE" });
  return { ...kept, ...closure };
}

function closureNow(call: ReadyCall, reason: string, nowMs: number): Closure {
  return { closedAt: new Date(nowMs), closedBy: call.principal.id, closeReason: reason };
}

function stateNotAllowed(field: string, message: string): CupoError {
  return conflict({ code: "STATE_NOT_ALLOWED", field, message });
}
