import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type UserAttentionCaseDetails,
  UserAttentionCaseDetails_Category,
  UserAttentionCaseDetails_Status,
  UserAttentionCaseDetailsSchema,
} from "../../gen/cupo/clinic/v1/user_attention_case_details_pb.js";
import {
  type WaitlistEntryDetails,
  type WaitlistEntryDetails_EarlierWish,
  WaitlistEntryDetails_EarlierWishSchema,
  WaitlistEntryDetails_Period,
  WaitlistEntryDetails_Status,
  WaitlistEntryDetailsSchema,
} from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { Closable } from "../../postgres/tables/desk/closures.js";
import type { DeskCaseRecord } from "../../postgres/tables/desk/user-attention-cases.js";
import type { DeskWaitlistEntryRecord, EarlierWish } from "../../postgres/tables/desk/waitlist.js";
import { valueNamed } from "../resources/enum-names.js";
import { presentOf } from "../resources/present-of.js";

export function toWaitlistEntryDetails(entry: DeskWaitlistEntryRecord): WaitlistEntryDetails {
  const { patientId, serviceId, dateFrom, dateTo, locationId, practitionerId, appointmentId, dueOn, version } = entry;
  return create(WaitlistEntryDetailsSchema, {
    waitlistEntryId: entry.id,
    patientId,
    serviceId,
    dateFrom,
    dateTo,
    version,
    createdAt: timestampFromDate(entry.createdAt),
    status: WaitlistEntryDetails_Status[entry.deskStatus],
    preferredPeriods: entry.preferredPeriods.map((name) => valueNamed(WaitlistEntryDetails_Period, name)),
    earlierWishes: (entry.earlierWishes ?? []).map(toEarlierWish),
    ...presentOf({ locationId, practitionerId, appointmentId, dueOn, ...closureOf(entry) }),
  });
}

function toEarlierWish({ preferredPeriods, replacedAt, ...wish }: EarlierWish): WaitlistEntryDetails_EarlierWish {
  return create(WaitlistEntryDetails_EarlierWishSchema, {
    preferredPeriods: preferredPeriods.map((name) => valueNamed(WaitlistEntryDetails_Period, name)),
    replacedAt: timestampFromDate(new Date(replacedAt)),
    ...presentOf(wish),
  });
}

export function toUserAttentionCaseDetails(kept: DeskCaseRecord): UserAttentionCaseDetails {
  const { externalReference, description, patientId, appointmentId, dueOn, version, takenBy, takenByActor } = kept;
  return create(UserAttentionCaseDetailsSchema, {
    userAttentionCaseId: kept.id,
    externalReference,
    description,
    version,
    createdAt: timestampFromDate(kept.createdAt),
    status: UserAttentionCaseDetails_Status[kept.deskStatus],
    category: valueNamed(UserAttentionCaseDetails_Category, kept.category),
    ...presentOf({ patientId, appointmentId, dueOn, takenBy, takenByActor, ...closureOf(kept) }),
    ...(kept.takenAt === undefined ? {} : { takenAt: timestampFromDate(kept.takenAt) }),
  });
}

function closureOf({ closedAt, closedBy, closedByActor, closeReason }: Closable) {
  return { closedAt: closedAt && timestampFromDate(closedAt), closedBy, closedByActor, closeReason };
}
