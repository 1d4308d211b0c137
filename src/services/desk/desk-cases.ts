import type { ReadyCall } from "../../call.js";
import type {
  CloseCaseRequestValid,
  ListCasesRequest,
  TakeCaseRequestValid,
} from "../../gen/cupo/clinic/v1/desk_service_pb.js";
import { UserAttentionCaseDetails_Status } from "../../gen/cupo/clinic/v1/user_attention_case_details_pb.js";
import {
  type DeskCaseRecord,
  listCases,
  lockCase,
  writeCase,
} from "../../postgres/tables/desk/user-attention-cases.js";
import { nameIn } from "../resources/enum-names.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { recordCaseAccess } from "./case-access.js";
import { closureNow, stateNotAllowed } from "./closing.js";
import { toUserAttentionCaseDetails } from "./desk-messages.js";
import { createdBetween, deskKeyOf, deskPageOf } from "./desk-pages.js";

const ALL = ["RECEIVED", "OPEN", "CLOSED"] as const;

/** Returns one page of the cases that match a request. Records the access to the patients of these cases. */
export async function listCasesPage(request: ListCasesRequest, call: ReadyCall) {
  const { patientId, createdFrom, createdTo } = request;
  const wanted = request.statuses.map((status) => nameIn(UserAttentionCaseDetails_Status, status)).toSorted();
  const filters = [wanted, patientId, createdFrom, createdTo];
  const page = readPage(request, "cases", filters);
  const filter = { statuses: wanted.length === 0 ? ALL : wanted, patientId, ...createdBetween(request) };
  const found = await listCases(call.transaction, filter, deskPageOf(page));
  const { rows, next } = cutPage(found, page, deskKeyOf, "cases", filters);
  await recordCaseAccess(rows, call);
  return { userAttentionCases: rows.map(toUserAttentionCaseDetails), ...next };
}

/**
 * Changes a case from RECEIVED to OPEN, records who took it, and returns the case. Throws 404 if the case does not
 * exist. Then throws 409 for a stale version, or if the status is not RECEIVED.
 */
export async function takeCase(
  { userAttentionCaseId, expectedVersion }: TakeCaseRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<DeskCaseRecord> {
  const kept = requireFound(await lockCase(call.transaction, userAttentionCaseId), "userAttentionCaseId");
  requireVersion(kept, expectedVersion);
  if (kept.deskStatus !== "RECEIVED") {
    throw stateNotAllowed("userAttentionCaseId", `the case is ${kept.deskStatus}, not RECEIVED`);
  }
  const taking = { takenAt: new Date(nowMs), takenBy: call.principal.id, takenByActor: call.actor };
  return change(call, { ...kept, ...taking, status: "OPEN", deskStatus: "OPEN" });
}

/**
 * Closes a case and returns it. Throws 404 if it does not exist. Then throws 409 for a stale version, or if it is
 * already closed.
 */
export async function closeCase(
  { userAttentionCaseId, expectedVersion, reason }: CloseCaseRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<DeskCaseRecord> {
  const kept = requireFound(await lockCase(call.transaction, userAttentionCaseId), "userAttentionCaseId");
  requireVersion(kept, expectedVersion);
  if (kept.deskStatus === "CLOSED") throw stateNotAllowed("userAttentionCaseId", "the case is already closed");
  return change(call, { ...kept, ...closureNow(call, reason, nowMs), deskStatus: "CLOSED" });
}

function change(call: ReadyCall, changed: DeskCaseRecord): DeskCaseRecord {
  const record = { ...changed, version: changed.version + 1 };
  const { id, version } = record;
  writeCase(call.transaction, record);
  call.effects.push({ resourceType: "UserAttentionCase", resourceId: id, action: "UPDATE", version });
  return record;
}
