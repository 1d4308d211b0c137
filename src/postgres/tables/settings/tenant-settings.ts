import type { Transaction } from "../../../call.js";
import { type ColumnsOf, readRecord, toPartialRow } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/**
 * Settings of a tenant. A setting is undefined if the tenant never set or has removed this setting. The members
 * `latest…`, `max…` and `supervisedAfterNoShows` do not apply to supervisors: callers with the scope
 * `scheduling:overbook`. A program can have its own `horizonDays` and `minimumNoticeMinutes`, which then apply instead.
 */
export interface TenantSettingsAttributes {
  /** Minutes from each reminder to the start of the appointment; undefined for {@link DEFAULT_REMINDER_OFFSETS}. */
  readonly reminderOffsetMinutes: readonly number[] | undefined;
  /** How many minutes a freed slot stays offered to one waitlist entry; undefined if no freed slot is offered. */
  readonly freedSlotOfferMinutes: number | undefined;
  /** How many days after today can be booked; undefined for 90. */
  readonly horizonDays: number | undefined;
  /**
   * A slot is offered until this many minutes before its start; undefined for 0. Bookings and moves to a stated time
   * ignore this limit.
   */
  readonly minimumNoticeMinutes: number | undefined;
  /**
   * A PENDING or CONFIRMED appointment can be cancelled until this many hours before its start; undefined for no limit.
   * Other appointments and displaced appointments have no limit.
   */
  readonly latestCancelHours: number | undefined;
  /**
   * An appointment can be rescheduled until this many hours before its start; undefined for no limit. Displaced
   * appointments have no limit.
   */
  readonly latestRescheduleHours: number | undefined;
  /**
   * A patient can be checked in from this many minutes before the start, but not before the local day of the
   * appointment; undefined for the configured default.
   */
  readonly checkInEarlyMinutes: number | undefined;
  /**
   * An appointment can be marked as attended from this many minutes before its start; undefined for the configured
   * default.
   */
  readonly attendedEarlyMinutes: number | undefined;
  /**
   * An appointment can be marked as a no-show from this many minutes after its start; undefined for the configured
   * default.
   */
  readonly noShowGraceMinutes: number | undefined;
  /** The maximum number of a patient's future PENDING and CONFIRMED appointments; undefined for no limit. */
  readonly maxAppointmentsAhead: number | undefined;
  /**
   * The maximum number of a patient's future PENDING and CONFIRMED appointments for one healthcare service; undefined
   * for no limit.
   */
  readonly maxAppointmentsAheadPerService: number | undefined;
  /**
   * The maximum number of a patient's appointments for one healthcare service on a local day; undefined for no limit.
   * Cancelled appointments and no-shows do not count.
   */
  readonly maxAppointmentsPerServiceAndDay: number | undefined;
  /**
   * If a patient has this many no-shows or more in the last 365 days, only a supervisor can book for the patient;
   * undefined for no limit.
   */
  readonly supervisedAfterNoShows: number | undefined;
  /**
   * A past visit, or a past step of a visit, can be recorded until this many days (local dates) after the day of the
   * visit. With 0, neither can be recorded. Undefined means 7.
   */
  readonly lateEntryDays: number | undefined;
}

/** The settings of a tenant as stored. */
export interface TenantSettingsRecord extends TenantSettingsAttributes {
  readonly version: number;
  /** Undefined before the first change. */
  readonly updatedAt: Date | undefined;
}

/** The reminder offsets of a tenant that has not set any, in minutes before the start: two days and one day. */
export const DEFAULT_REMINDER_OFFSETS: readonly number[] = [2880, 1440];

/** The default of `lateEntryDays`, in days. */
export const DEFAULT_LATE_ENTRY_DAYS = 7;

const ATTRIBUTES = {
  reminderOffsetMinutes: "reminder_offset_minutes",
  freedSlotOfferMinutes: "freed_slot_offer_minutes",
  horizonDays: "horizon_days",
  minimumNoticeMinutes: "minimum_notice_minutes",
  latestCancelHours: "latest_cancel_hours",
  latestRescheduleHours: "latest_reschedule_hours",
  checkInEarlyMinutes: "check_in_early_minutes",
  attendedEarlyMinutes: "attended_early_minutes",
  noShowGraceMinutes: "no_show_grace_minutes",
  maxAppointmentsAhead: "max_appointments_ahead",
  maxAppointmentsAheadPerService: "max_appointments_ahead_per_service",
  maxAppointmentsPerServiceAndDay: "max_appointments_per_service_and_day",
  supervisedAfterNoShows: "supervised_after_no_shows",
  lateEntryDays: "late_entry_days",
} as const satisfies ColumnsOf<TenantSettingsAttributes>;

const COLUMNS = {
  ...ATTRIBUTES,
  version: "version",
  updatedAt: "updated_at",
} as const satisfies ColumnsOf<TenantSettingsRecord>;

/** The settings of a tenant before the first change: version 1, and every setting is undefined. */
const UNCHANGED: TenantSettingsRecord = { ...pickSettings({}), version: 1, updatedAt: undefined };

const select = prepared(["tenant_id"], (key) => sql("tenant_settings").where(key).select(COLUMNS));

const addUnchanged = prepared(["tenant_id", "at"], ({ tenant_id, at }) =>
  sql("tenant_settings")
    .insert({ tenant_id, version: UNCHANGED.version, created_at: at, updated_at: at })
    .onConflict()
    .ignore(),
);

const selectForUpdate = prepared(["tenant_id"], (key) =>
  sql("tenant_settings").where(key).select(COLUMNS).forNoKeyUpdate(),
);

/** Returns the settings of the tenant; before the first change, version 1 with every setting undefined. */
export async function findTenantSettings(transaction: Transaction): Promise<TenantSettingsRecord> {
  const { tenantId: tenant_id } = transaction;
  return (await readRecord<TenantSettingsRecord>(transaction, select({ tenant_id }))) ?? UNCHANGED;
}

/**
 * Returns the settings of the tenant, locked until the transaction ends. For a tenant without a row, first inserts a
 * row with version 1, the version of unchanged settings.
 */
export async function lockTenantSettings(transaction: Transaction, nowMs: number): Promise<TenantSettingsRecord> {
  const { tenantId: tenant_id } = transaction;
  transaction.send(addUnchanged({ tenant_id, at: new Date(nowMs) }));
  return (await readRecord<TenantSettingsRecord>(transaction, selectForUpdate({ tenant_id }))) ?? UNCHANGED;
}

/** Updates settings that the transaction has locked. */
export function updateTenantSettings(transaction: Transaction, changes: Partial<TenantSettingsRecord>): void {
  const { tenantId: tenant_id } = transaction;
  transaction.send(sql("tenant_settings").where({ tenant_id }).update(toPartialRow(COLUMNS, changes)));
}

/** Returns the settings among the members of a record. A setting that the record does not have is undefined. */
export function pickSettings(record: Partial<TenantSettingsAttributes>): TenantSettingsAttributes {
  const names = Object.keys(ATTRIBUTES) as (keyof TenantSettingsAttributes)[];
  return Object.fromEntries(names.map((name) => [name, record[name]])) as unknown as TenantSettingsAttributes;
}
