import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type TenantSettings, TenantSettingsSchema } from "../../gen/cupo/clinic/v1/tenant_settings_pb.js";
import type {
  TenantSettingsService,
  UpdateTenantSettingsRequestValid,
} from "../../gen/cupo/clinic/v1/tenant_settings_service_pb.js";
import type { Implementation } from "../../implementation.js";
import {
  DEFAULT_REMINDER_OFFSETS,
  findTenantSettings,
  lockTenantSettings,
  type TenantSettingsRecord,
  updateTenantSettings,
} from "../../postgres/tables/settings/tenant-settings.js";
import { requireVersion } from "../resources/preconditions.js";
import { changesOf } from "../resources/resources.js";

/** The settings of tenants. `now` returns milliseconds since the epoch. */
export function createTenantSettingsService(now: () => number): Implementation<typeof TenantSettingsService> {
  return {
    async getTenantSettings(_, call) {
      return { tenantSettings: toTenantSettings(await findTenantSettings(call.transaction)) };
    },
    async updateTenantSettings(request, call) {
      return { tenantSettings: toTenantSettings(await update(request, call, now())) };
    },
  };
}

async function update(request: UpdateTenantSettingsRequestValid, call: ReadyCall, nowMs: number) {
  const current = await lockTenantSettings(call.transaction, nowMs);
  requireVersion(current, request.expectedVersion);
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return current;
  const saved = { ...current, ...changes, version: current.version + 1, updatedAt: new Date(nowMs) };
  updateTenantSettings(call.transaction, saved);
  const { tenantId: resourceId } = call.principal;
  call.effects.push({ resourceType: "TenantSettings", resourceId, action: "UPDATE", version: saved.version });
  return saved;
}

function toTenantSettings(record: TenantSettingsRecord): TenantSettings {
  const { reminderOffsetMinutes, freedSlotOfferMinutes, version, updatedAt } = record;
  return create(TenantSettingsSchema, {
    reminderOffsetMinutes: [...(reminderOffsetMinutes ?? DEFAULT_REMINDER_OFFSETS)],
    ...(freedSlotOfferMinutes === undefined ? {} : { freedSlotOfferMinutes }),
    version,
    ...(version === 1 || updatedAt === undefined ? {} : { updatedAt: timestampFromDate(updatedAt) }),
  });
}
