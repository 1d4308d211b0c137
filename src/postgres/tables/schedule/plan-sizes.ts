import type { Transaction } from "../../../call.js";
import type { ProgramRuleAttributes } from "../../../scheduling/program-rule-attributes.js";
import { readRecords } from "../../columns.js";
import { sql } from "../../sql.js";
import { HORIZON_OF_PROGRAM, withSettings } from "./booking-windows.js";
import { readActiveRules } from "./program-rules.js";

/** The attributes of an active program that determine how many slots the program has. */
export interface PlannedProgram {
  readonly programId: string;
  /** The program can be booked for today and this many days after it. */
  readonly horizonDays: number;
  /** Whether the program has its own horizon. Otherwise the horizon of the tenant applies. */
  readonly hasOwnHorizon: boolean;
  readonly practitioners: number;
  readonly rules: readonly ProgramRuleAttributes[];
}

/** Returns the active programs of the tenant with their active rules. */
export async function readPlannedPrograms(transaction: Transaction): Promise<readonly PlannedProgram[]> {
  const { tenantId } = transaction;
  const query = withSettings(sql({ p: "programs" }), tenantId)
    .where({ "p.tenant_id": tenantId, "p.active": true })
    .select({ programId: "p.id", horizonDays: sql.raw(HORIZON_OF_PROGRAM) })
    .select({ hasOwnHorizon: sql.raw("p.horizon_days IS NOT NULL"), practitioners: sql.raw(STAFF, [tenantId]) });
  const [programs, rules] = await Promise.all([
    readRecords<Omit<PlannedProgram, "rules">>(transaction, query),
    readActiveRules(transaction),
  ]);
  const planned = programs.map((program) => Object.assign(program, { rules: new Array<ProgramRuleAttributes>() }));
  const ofId = new Map(planned.map((program) => [program.programId, program]));
  for (const rule of rules) ofId.get(rule.programId)?.rules.push(rule);
  return planned;
}

const STAFF = `(SELECT count(*)::integer FROM program_practitioners m WHERE m.tenant_id = ? AND m.program_id = p.id)`;
