import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  UserAttentionCase_Category,
  UserAttentionCase_Status,
} from "../../gen/cupo/access/v1/user_attention_case_pb.js";
import { WaitlistEntry_Status } from "../../gen/cupo/access/v1/waitlist_entry_pb.js";
import { type CaseDetails, CaseDetailsSchema } from "../../gen/cupo/clinic/v1/case_details_pb.js";
import {
  type WaitlistEntryDetails,
  WaitlistEntryDetails_Period,
  WaitlistEntryDetailsSchema,
} from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { Closable } from "../../postgres/tables/desk/closures.js";
import type { DeskCaseRecord } from "../../postgres/tables/desk/user-attention-cases.js";
import type { DeskWaitlistEntryRecord } from "../../postgres/tables/desk/waitlist.js";
import { valueNamed } from "../resources/enum-names.js";

/** The messages of what the clinic's desks deal with, from what is kept. */

export function toWaitlistEntryDetails(entry: DeskWaitlistEntryRecord): WaitlistEntryDetails {
  const { id, patientId, serviceId, dateFrom, dateTo, locationId, practitionerId } = entry;
  return create(WaitlistEntryDetailsSchema, {
    id,
    patientId,
    serviceId,
    dateFrom,
    dateTo,
    createdAt: timestampFromDate(entry.createdAt),
    status: WaitlistEntry_Status[entry.status],
    preferredPeriods: entry.preferredPeriods.map((name) => valueNamed(WaitlistEntryDetails_Period, name)),
    ...(locationId === undefined ? {} : { locationId }),
    ...(practitionerId === undefined ? {} : { practitionerId }),
    ...closureFields(entry),
  });
}

export function toCaseDetails(kept: DeskCaseRecord): CaseDetails {
  const { id, externalReference, description, patientId, appointmentId } = kept;
  return create(CaseDetailsSchema, {
    id,
    externalReference,
    description,
    createdAt: timestampFromDate(kept.createdAt),
    status: UserAttentionCase_Status[kept.status],
    category: valueNamed(UserAttentionCase_Category, kept.category),
    ...(patientId === undefined ? {} : { patientId }),
    ...(appointmentId === undefined ? {} : { appointmentId }),
    ...closureFields(kept),
  });
}

function closureFields({ closedAt, closedBy, closeReason }: Closable) {
  if (closedAt === undefined || closedBy === undefined || closeReason === undefined) return {};
  return { closedAt: timestampFromDate(closedAt), closedBy, closeReason };
}
