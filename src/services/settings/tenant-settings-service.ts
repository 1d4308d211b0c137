import { create } from "@bufbuild/protobuf";
import type { ReadyCall } from "../../call.js";
import {
  type TenantSettingsPreview,
  TenantSettingsPreviewSchema,
} from "../../gen/cupo/clinic/v1/tenant_settings_pb.js";
import type {
  PreviewTenantSettingsChangeRequestValid,
  TenantSettingsService,
  UpdateTenantSettingsRequestValid,
} from "../../gen/cupo/clinic/v1/tenant_settings_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestExtension } from "../../postgres/job-queue.js";
import { countLimitEffects, countWindowEffects } from "../../postgres/tables/settings/settings-effects.js";
import {
  findTenantSettings,
  lockTenantSettings,
  type TenantSettingsAttributes,
  updateTenantSettings,
} from "../../postgres/tables/settings/tenant-settings.js";
import {
  insertTenantSettingsChange,
  listTenantSettingsChanges,
} from "../../postgres/tables/settings/tenant-settings-history.js";
import { HORIZON_DAYS } from "../../scheduling/horizon.js";
import type { VisitMargins } from "../../scheduling/visit-times.js";
import { versionAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireVersion } from "../resources/preconditions.js";
import { changesOf } from "../resources/resources.js";
import { requireRoomForHorizon, type SlotLimits } from "../schedule/plan-budget.js";
import { toTenantSettings, toTenantSettingsChange } from "./tenant-settings-messages.js";

/** The dependencies of the tenant settings service. */
export interface SettingsPorts {
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly slotLimits: SlotLimits;
  /** The {@link VisitMargins} of tenants that have not set their own. */
  readonly visitMargins: VisitMargins;
}

/** Returns the service that reads, previews and changes the settings of a tenant. */
export function createTenantSettingsService({
  now,
  slotLimits,
  visitMargins,
}: SettingsPorts): Implementation<typeof TenantSettingsService> {
  return {
    async getTenantSettings(_, call) {
      return { tenantSettings: toTenantSettings(await findTenantSettings(call.transaction), visitMargins) };
    },
    async updateTenantSettings(request, call) {
      return { tenantSettings: toTenantSettings(await update(request, call, slotLimits, now()), visitMargins) };
    },
    async previewTenantSettingsChange(request, call) {
      return { tenantSettingsPreview: await preview(request, call, slotLimits, now()) };
    },
    async listTenantSettingsChanges(request, call) {
      const page = readPage(request, "tenant settings changes");
      const wanted = { after: versionAfter(page), limit: page.size + 1 };
      const found = await listTenantSettingsChanges(call.transaction, wanted);
      const { rows, next } = cutPage(found, page, ({ version }) => [String(version)], "tenant settings changes");
      return { changes: rows.map((row) => toTenantSettingsChange(row, visitMargins)), ...next };
    },
  };
}

async function update(request: UpdateTenantSettingsRequestValid, call: ReadyCall, limits: SlotLimits, nowMs: number) {
  const { transaction } = call;
  const current = await lockTenantSettings(transaction, nowMs);
  requireVersion(current, request.expectedVersion);
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return current;
  await roomFor(call, current, changes, limits, nowMs);
  const saved = { ...current, ...changes, version: current.version + 1, updatedAt: new Date(nowMs) };
  updateTenantSettings(transaction, saved);
  insertTenantSettingsChange(call, saved, saved.updatedAt);
  if (isFurther(current, saved)) requestExtension(transaction);
  const { tenantId: resourceId } = call.principal;
  call.effects.push({ resourceType: "TenantSettings", resourceId, action: "UPDATE", version: saved.version });
  return saved;
}

async function preview(
  request: PreviewTenantSettingsChangeRequestValid,
  call: ReadyCall,
  limits: SlotLimits,
  nowMs: number,
): Promise<TenantSettingsPreview> {
  const current = await findTenantSettings(call.transaction);
  const after = { ...current, ...changesOf(request) };
  const now = new Date(nowMs);
  const [addedSlotCount, window, limited] = await Promise.all([
    roomFor(call, current, after, limits, nowMs),
    countWindowEffects(call.transaction, current, after, now),
    countLimitEffects(call.transaction, current, after, now),
  ]);
  return create(TenantSettingsPreviewSchema, {
    addedSlotCount,
    hiddenSlotCount: window.hiddenSlots,
    appointmentsBeyondHorizonCount: window.appointmentsBeyond,
    lateCancelCount: limited.lateCancels,
    lateRescheduleCount: limited.lateReschedules,
    patientsOverLimitCount: limited.patientsOverLimit,
  });
}

type Horizon = Partial<Pick<TenantSettingsAttributes, "horizonDays">>;

/**
 * Returns the estimated number of slots that a longer horizon adds; 0 if the horizon is not longer. Throws 422 if a
 * program or the tenant would have too many slots.
 */
async function roomFor(
  { transaction }: ReadyCall,
  current: Horizon,
  changed: Horizon,
  limits: SlotLimits,
  nowMs: number,
): Promise<number> {
  const after = { ...current, ...changed };
  if (!isFurther(current, after)) return 0;
  const days = daysOf(after);
  const horizonOf = (program: { hasOwnHorizon: boolean; horizonDays: number }) =>
    program.hasOwnHorizon ? program.horizonDays : days;
  return requireRoomForHorizon(transaction, horizonOf, limits, nowMs);
}

function isFurther(before: Horizon, after: Horizon): boolean {
  return daysOf(after) > daysOf(before);
}

function daysOf({ horizonDays = HORIZON_DAYS }: Horizon): number {
  return horizonDays;
}
