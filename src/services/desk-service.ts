import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, principalOf, transactionOf } from "../call.js";
import { type CupoError, conflict } from "../errors.js";
import { UserAttentionCase_Status } from "../gen/cupo/access/v1/user_attention_case_pb.js";
import { WaitlistEntry_Status } from "../gen/cupo/access/v1/waitlist_entry_pb.js";
import type {
  CloseCaseRequestValid,
  CloseWaitlistEntryRequestValid,
  DeskService,
  GetCaseRequestValid,
  GetWaitlistEntryRequestValid,
  ListCasesRequest,
  ListWaitlistEntriesRequest,
  TakeCaseRequestValid,
} from "../gen/cupo/clinic/v1/desk_service_pb.js";
import type { Closure } from "../postgres/closures.js";
import {
  findCase,
  type KeptCase,
  listCases,
  lockCase,
  sendCaseClosure,
  sendCaseStatus,
} from "../postgres/user-attention-cases.js";
import {
  findWaitlistEntry,
  type KeptWaitlistEntry,
  listWaitlistEntries,
  lockWaitlistEntry,
  sendWaitlistEntryClosure,
} from "../postgres/waitlist.js";
import { toCaseDetails, toWaitlistEntryDetails } from "./desk-messages.js";
import { idAfter } from "./page-keys.js";
import { cutPage, readPage } from "./pages.js";
import { requireFound } from "./preconditions.js";

/**
 * The waitlist and the user-attention cases, for the clinic's desks. What is closed stays as it is. `now` gives
 * milliseconds since the epoch.
 */
export function createDeskService(now: () => number): ServiceImpl<typeof DeskService> {
  return {
    async getWaitlistEntry(message, { values }) {
      const { waitlistEntryId } = message as GetWaitlistEntryRequestValid;
      const entry = requireFound(await findWaitlistEntry(transactionOf(values), waitlistEntryId));
      return { waitlistEntry: toWaitlistEntryDetails(entry) };
    },
    async listWaitlistEntries(message, { values }) {
      return listEntries(message, values);
    },
    async closeWaitlistEntry(message, { values }) {
      const entry = await closeEntry(message as CloseWaitlistEntryRequestValid, values, now());
      return { waitlistEntry: toWaitlistEntryDetails(entry) };
    },
    async getCase(message, { values }) {
      const { caseId } = message as GetCaseRequestValid;
      return { userAttentionCase: toCaseDetails(requireFound(await findCase(transactionOf(values), caseId))) };
    },
    async listCases(message, { values }) {
      return listCasesPage(message, values);
    },
    async takeCase(message, { values }) {
      return { userAttentionCase: toCaseDetails(await takeCase(message as TakeCaseRequestValid, values)) };
    },
    async closeCase(message, { values }) {
      return { userAttentionCase: toCaseDetails(await closeCase(message as CloseCaseRequestValid, values, now())) };
    },
  };
}

async function listEntries(request: ListWaitlistEntriesRequest, values: ContextValues) {
  const { patientId, serviceId, closed } = request;
  const status = request.status === undefined ? undefined : WaitlistEntry_Status[request.status];
  const filters = [status, patientId, serviceId, closed];
  const page = readPage(request, "waitlist entries", filters);
  const limits = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listWaitlistEntries(transactionOf(values), { status, patientId, serviceId, closed }, limits);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "waitlist entries", filters);
  return { waitlistEntries: rows.map(toWaitlistEntryDetails), ...next };
}

async function closeEntry(
  { waitlistEntryId, reason }: CloseWaitlistEntryRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<KeptWaitlistEntry> {
  const entry = requireFound(await lockWaitlistEntry(transactionOf(values), waitlistEntryId));
  if (entry.closure !== undefined) throw stateNotAllowed("waitlistEntryId", "the entry is closed already");
  const closure = closureNow(values, reason, nowMs);
  sendWaitlistEntryClosure(transactionOf(values), entry.id, closure);
  callOf(values).effects.push({ resourceType: "WaitlistEntry", resourceId: entry.id, action: "UPDATE" });
  return { ...entry, closure };
}

async function listCasesPage(request: ListCasesRequest, values: ContextValues) {
  const { patientId, closed } = request;
  const status = request.status === undefined ? undefined : UserAttentionCase_Status[request.status];
  const filters = [status, patientId, closed];
  const page = readPage(request, "cases", filters);
  const limits = { afterId: idAfter(page), limit: page.size + 1 };
  const found = await listCases(transactionOf(values), { status, patientId, closed }, limits);
  const { rows, next } = cutPage(found, page, ({ id }) => [id], "cases", filters);
  return { userAttentionCases: rows.map(toCaseDetails), ...next };
}

async function takeCase({ caseId }: TakeCaseRequestValid, values: ContextValues): Promise<KeptCase> {
  const kept = requireFound(await lockCase(transactionOf(values), caseId));
  if (kept.closure !== undefined) throw stateNotAllowed("caseId", "the case is closed");
  if (kept.status !== "RECEIVED") throw stateNotAllowed("caseId", `the case is ${kept.status}, not RECEIVED`);
  const taken: KeptCase = { ...kept, status: "OPEN" };
  sendCaseStatus(transactionOf(values), taken);
  callOf(values).effects.push({ resourceType: "UserAttentionCase", resourceId: kept.id, action: "UPDATE" });
  return taken;
}

async function closeCase(
  { caseId, reason }: CloseCaseRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<KeptCase> {
  const kept = requireFound(await lockCase(transactionOf(values), caseId));
  if (kept.closure !== undefined) throw stateNotAllowed("caseId", "the case is closed already");
  const closure = closureNow(values, reason, nowMs);
  sendCaseClosure(transactionOf(values), kept.id, closure);
  callOf(values).effects.push({ resourceType: "UserAttentionCase", resourceId: kept.id, action: "UPDATE" });
  return { ...kept, closure };
}

function closureNow(values: ContextValues, reason: string, nowMs: number): Closure {
  return { at: new Date(nowMs), by: principalOf(values).id, reason };
}

function stateNotAllowed(field: string, message: string): CupoError {
  return conflict({ code: "STATE_NOT_ALLOWED", field, message });
}
