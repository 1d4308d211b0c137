import type { Transaction } from "../../../call.js";
import type { ProgramRuleAttributes } from "../../../scheduling/program-rule-attributes.js";
import { type ColumnsOf, readRecords, toRow } from "../../columns.js";
import { sql } from "../../sql.js";

/** A stored rule of a program. Local times are HH:MM:SS. */
export interface ProgramRuleRecord extends ProgramRuleAttributes {
  readonly id: string;
  readonly programId: string;
  readonly version: number;
}

const COLUMNS = {
  id: "id",
  programId: "program_id",
  active: "active",
  dailyCapacity: "daily_capacity",
  slotDurationMinutes: "slot_duration_minutes",
  startsAtLocal: "starts_at_local",
  endsAtLocal: "ends_at_local",
  recurrence: "recurrence",
  weekdays: "weekdays",
  validFrom: "valid_from",
  validTo: "valid_to",
  holidayDates: "holiday_dates",
  holidayPolicy: "holiday_policy",
  version: "version",
} as const satisfies ColumnsOf<ProgramRuleRecord>;

/** Returns the rules of a program, ordered by id. To check the rules for overlaps, lock the program first. */
export async function readRules(transaction: Transaction, programId: string): Promise<ProgramRuleRecord[]> {
  const query = sql("program_rules").where({ tenant_id: transaction.tenantId, program_id: programId });
  return readRecords(transaction, query.orderBy("id").select(COLUMNS));
}

/** Returns the active rules of all programs of the tenant. */
export async function readActiveRules(transaction: Transaction): Promise<ProgramRuleRecord[]> {
  const query = sql("program_rules").where({ tenant_id: transaction.tenantId, active: true });
  return readRecords(transaction, query.select(COLUMNS));
}

/** Inserts a rule. The transaction must have locked the program of the rule. */
export function insertRule(transaction: Transaction, rule: ProgramRuleRecord, at: Date): void {
  const row = { tenant_id: transaction.tenantId, ...toRow(COLUMNS, rule), created_at: at, updated_at: at };
  transaction.send(sql("program_rules").insert(row));
}

/** Updates a rule. The transaction must have locked the program of the rule. */
export function writeRule(transaction: Transaction, rule: ProgramRuleRecord, at: Date): void {
  const key = { tenant_id: transaction.tenantId, id: rule.id };
  const { id: _, ...changed } = toRow(COLUMNS, rule);
  transaction.send(
    sql("program_rules")
      .where(key)
      .update({ ...changed, updated_at: at }),
  );
}
