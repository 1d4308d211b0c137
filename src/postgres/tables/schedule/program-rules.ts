import type { Transaction } from "../../../call.js";
import type { ProgramRuleTerms } from "../../../scheduling/program-rule-terms.js";
import { sql } from "../../sql.js";

/** A rule as it is kept: its terms, with local times as HH:MM:SS. */
export interface ProgramRuleRecord extends ProgramRuleTerms {
  readonly id: string;
  readonly programId: string;
  readonly version: number;
}

interface ProgramRuleRow {
  id: string;
  program_id: string;
  active: boolean;
  daily_capacity: number;
  slot_duration_minutes: number;
  starts_at_local: string;
  ends_at_local: string;
  recurrence: "WEEKLY";
  weekdays: number[];
  valid_from: string;
  valid_to: string;
  holiday_dates: string[];
  holiday_policy: ProgramRuleTerms["holidayPolicy"];
  version: number;
}

const COLUMNS: (keyof ProgramRuleRow)[] = [
  "id",
  "program_id",
  "active",
  "daily_capacity",
  "slot_duration_minutes",
  "starts_at_local",
  "ends_at_local",
  "recurrence",
  "weekdays",
  "valid_from",
  "valid_to",
  "holiday_dates",
  "holiday_policy",
  "version",
];

/** The rules of a program by id. Whoever is to judge their overlap has locked the program. */
export async function readRules(transaction: Transaction, programId: string): Promise<ProgramRuleRecord[]> {
  const query = sql("program_rules").where({ tenant_id: transaction.tenantId, program_id: programId });
  const rows = await transaction.rows<ProgramRuleRow>(query.orderBy("id").select(COLUMNS));
  return rows.map(fromRow);
}

/** Adds a rule to a program that the transaction has locked. */
export function insertRule(transaction: Transaction, rule: ProgramRuleRecord, at: Date): void {
  const key = { tenant_id: transaction.tenantId, id: rule.id, program_id: rule.programId };
  transaction.send(sql("program_rules").insert({ ...key, ...toRow(rule), created_at: at, updated_at: at }));
}

/** Writes terms and version of a rule of a program that the transaction has locked. */
export function writeRule(transaction: Transaction, rule: ProgramRuleRecord, at: Date): void {
  const key = { tenant_id: transaction.tenantId, id: rule.id };
  transaction.send(
    sql("program_rules")
      .where(key)
      .update({ ...toRow(rule), updated_at: at }),
  );
}

function toRow(rule: ProgramRuleRecord) {
  return {
    active: rule.active,
    daily_capacity: rule.dailyCapacity,
    slot_duration_minutes: rule.slotDurationMinutes,
    starts_at_local: rule.startsAtLocal,
    ends_at_local: rule.endsAtLocal,
    recurrence: rule.recurrence,
    weekdays: rule.weekdays,
    valid_from: rule.validFrom,
    valid_to: rule.validTo,
    holiday_dates: rule.holidayDates,
    holiday_policy: rule.holidayPolicy,
    version: rule.version,
  };
}

function fromRow(row: ProgramRuleRow): ProgramRuleRecord {
  return {
    id: row.id,
    programId: row.program_id,
    active: row.active,
    dailyCapacity: row.daily_capacity,
    slotDurationMinutes: row.slot_duration_minutes,
    startsAtLocal: row.starts_at_local,
    endsAtLocal: row.ends_at_local,
    recurrence: row.recurrence,
    weekdays: row.weekdays,
    validFrom: row.valid_from,
    validTo: row.valid_to,
    holidayDates: row.holiday_dates,
    holidayPolicy: row.holiday_policy,
    version: row.version,
  };
}
