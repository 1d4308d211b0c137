import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type TenantSettings,
  type TenantSettingsChange,
  TenantSettingsChangeSchema,
  TenantSettingsSchema,
} from "../../gen/cupo/clinic/v1/tenant_settings_pb.js";
import {
  DEFAULT_LATE_ENTRY_DAYS,
  DEFAULT_REMINDER_OFFSETS,
  pickSettings,
  type TenantSettingsRecord,
} from "../../postgres/tables/settings/tenant-settings.js";
import type { TenantSettingsChangeRecord } from "../../postgres/tables/settings/tenant-settings-history.js";
import { HORIZON_DAYS } from "../../scheduling/horizon.js";
import { marginsOf, type VisitMargins } from "../../scheduling/visit-times.js";
import { presentOf } from "../resources/present-of.js";

/**
 * Converts the settings of a tenant to the TenantSettings message. A setting that the tenant has not set has its
 * default, or is absent if there is no default. `margins` are the defaults of {@link VisitMargins}.
 */
export function toTenantSettings(
  { version, updatedAt, ...kept }: TenantSettingsRecord,
  margins: VisitMargins,
): TenantSettings {
  const { reminderOffsetMinutes = DEFAULT_REMINDER_OFFSETS, horizonDays, minimumNoticeMinutes } = kept;
  return create(TenantSettingsSchema, {
    reminderOffsetMinutes: [...reminderOffsetMinutes],
    horizonDays: horizonDays ?? HORIZON_DAYS,
    minimumNoticeMinutes: minimumNoticeMinutes ?? 0,
    lateEntryDays: kept.lateEntryDays ?? DEFAULT_LATE_ENTRY_DAYS,
    ...marginsOf(kept, margins),
    ...presentOf({
      freedSlotOfferMinutes: kept.freedSlotOfferMinutes,
      latestCancelHours: kept.latestCancelHours,
      latestRescheduleHours: kept.latestRescheduleHours,
      maxAppointmentsAhead: kept.maxAppointmentsAhead,
      maxAppointmentsAheadPerService: kept.maxAppointmentsAheadPerService,
      maxAppointmentsPerServiceAndDay: kept.maxAppointmentsPerServiceAndDay,
      supervisedAfterNoShows: kept.supervisedAfterNoShows,
    }),
    version,
    ...(version === 1 || updatedAt === undefined ? {} : { updatedAt: timestampFromDate(updatedAt) }),
  });
}

export function toTenantSettingsChange(
  change: TenantSettingsChangeRecord,
  margins: VisitMargins,
): TenantSettingsChange {
  const { version, changedAt, principal, actor, correlationId } = change;
  return create(TenantSettingsChangeSchema, {
    tenantSettings: toTenantSettings({ ...pickSettings(change.settings), version, updatedAt: changedAt }, margins),
    changedAt: timestampFromDate(changedAt),
    principal,
    ...(actor === undefined ? {} : { actor }),
    correlationId,
  });
}
