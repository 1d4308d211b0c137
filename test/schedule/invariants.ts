import { expect } from "vitest";
import type { TestService } from "../support/service.js";
import { mustCall } from "./clinic.js";
import { evidenceOf, type Finding } from "./evidence.js";
import { scheduleDifferences } from "./schedule-differences.js";

const LIVE = "('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED')";

/** SQL for whether a hold is live. `:at` is replaced by a time. Not a CTE, with which Citus correlates no subquery. */
const isLive = (hold: string) => `${hold}.ended_at IS NULL AND ${hold}.expires_at > :at`;

const QUERIES: Readonly<Record<string, string>> = {
  "a live appointment without its adjoining slots": `SELECT a.id FROM appointments a
     LEFT JOIN LATERAL (SELECT min(s.starts_at) AS first, max(s.ends_at) AS last, sum(s.ends_at - s.starts_at) AS length,
       bool_and((s.program_id, s.rule_id, s.practitioner_id, s.local_date)
         IS NOT DISTINCT FROM (a.program_id, a.rule_id, a.practitioner_id, a.local_date)) AS same
       FROM slots s WHERE s.tenant_id = a.tenant_id AND s.appointment_id = a.id) AS held ON true
     WHERE a.status IN ${LIVE} AND (held.first, held.last, held.length, held.same)
       IS DISTINCT FROM (a.starts_at, a.ends_at, a.ends_at - a.starts_at, true)`,
  "a slot occupied by no live appointment": `SELECT s.id FROM slots s JOIN appointments a
     ON a.tenant_id = s.tenant_id AND a.id = s.appointment_id WHERE a.status NOT IN ${LIVE}`,
  "a wrong counter": `SELECT rule_id FROM
     (SELECT tenant_id, rule_id, local_date, booked FROM day_counters) c FULL JOIN
     (SELECT tenant_id, rule_id, local_date, count(*) AS live FROM appointments
       WHERE status IN ${LIVE} AND NOT overbooked GROUP BY 1, 2, 3) a
     USING (tenant_id, rule_id, local_date) WHERE coalesce(c.booked, 0) <> coalesce(a.live, 0)`,
  "an overlap": `SELECT a.id FROM appointments a JOIN appointments b ON a.tenant_id = b.tenant_id AND a.id < b.id
     AND (a.practitioner_id = b.practitioner_id AND NOT a.overbooked AND NOT b.overbooked
         AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at
       OR a.patient_id = b.patient_id AND a.starts_at < coalesce(b.visit_ends_at, b.ends_at)
         AND b.starts_at < coalesce(a.visit_ends_at, a.ends_at)) WHERE a.status IN ${LIVE} AND b.status IN ${LIVE}`,
  "two live holds at the same time, or one over an appointment": `SELECT h.id FROM appointment_holds h WHERE ${isLive("h")} AND (EXISTS (
      SELECT FROM appointment_holds o WHERE o.tenant_id = h.tenant_id AND o.id <> h.id AND ${isLive("o")}
        AND (o.practitioner_id = h.practitioner_id AND o.starts_at < h.ends_at AND o.ends_at > h.starts_at
          OR o.patient_id = h.patient_id AND o.starts_at < coalesce(h.visit_ends_at, h.ends_at)
            AND coalesce(o.visit_ends_at, o.ends_at) > h.starts_at))
    OR EXISTS (SELECT FROM appointments a WHERE a.tenant_id = h.tenant_id AND a.practitioner_id = h.practitioner_id
      AND NOT a.overbooked AND a.id IS DISTINCT FROM h.appointment_id AND a.status IN ${LIVE}
      AND a.starts_at < h.ends_at AND a.ends_at > h.starts_at))`,
  "a hold that outlived its time":
    "SELECT id FROM appointment_holds WHERE ended_at > expires_at OR expires_at > starts_at",
  "a slot that was offered twice to a waitlist entry": `SELECT slot_id FROM appointment_holds
     WHERE waitlist_entry_id IS NOT NULL GROUP BY tenant_id, slot_id, waitlist_entry_id HAVING count(*) > 1`,
  "a wrong counter of holds": `SELECT rule_id FROM
     (SELECT c.tenant_id, c.rule_id, c.local_date, count(*) AS counted FROM day_counters c, unnest(c.held) AS until
       WHERE until > :at GROUP BY 1, 2, 3) c FULL JOIN
     (SELECT tenant_id, rule_id, local_date, count(*) AS live FROM appointment_holds l WHERE uses_unit AND ${isLive("l")} GROUP BY 1, 2, 3) h
     USING (tenant_id, rule_id, local_date) WHERE coalesce(c.counted, 0) <> coalesce(h.live, 0)`,
  "a wrong counter of a principal": `SELECT principal FROM
     (SELECT c.tenant_id, c.principal, count(*) AS counted FROM hold_holders c, unnest(c.held) AS until
       WHERE until > :at GROUP BY 1, 2) c FULL JOIN
     (SELECT tenant_id, principal, count(*) AS live FROM appointment_holds l WHERE waitlist_entry_id IS NULL
       AND ${isLive("l")} GROUP BY 1, 2) h
     USING (tenant_id, principal) WHERE coalesce(c.counted, 0) <> coalesce(h.live, 0)`,
  "an overbooked appointment with a rule, or without a reason": `SELECT id FROM appointments
     WHERE overbooked <> (rule_id IS NULL) OR overbooked AND overbooking_reason IS NULL`,
  "an incomplete history": `SELECT a.id FROM appointments a LEFT JOIN appointment_history h
     ON h.tenant_id = a.tenant_id AND h.appointment_id = a.id GROUP BY a.tenant_id, a.id, a.version, a.status
     HAVING count(h.version) <> a.version OR min(h.version) <> 1 OR max(h.version) <> a.version
       OR bool_or(h.version = a.version AND h.to_status <> a.status)`,
};

const EXCEEDED_CAPACITY = `SELECT FROM (SELECT tenant_id, rule_id, local_date FROM appointments
      WHERE status IN ${LIVE} AND NOT overbooked
    UNION ALL SELECT tenant_id, rule_id, local_date FROM appointment_holds l WHERE uses_unit AND ${isLive("l")}) AS a
  JOIN program_rules r ON r.tenant_id = a.tenant_id AND r.id = a.rule_id
  GROUP BY r.tenant_id, r.id, a.local_date, r.daily_capacity HAVING count(*) > r.daily_capacity`;

/** Holds that end sooner are not compared: they may expire between the reading of the clock and that of the rows. */
const MARGIN_MS = 30_000;

/** Returns the names of the broken booking invariants of all tenants, in one snapshot. Empty if all hold. */
export async function brokenInvariants(service: Pick<TestService, "query" | "now">): Promise<string[]> {
  return namesOf(service, QUERIES);
}

/**
 * Returns everything broken: {@link brokenInvariants}, days above their capacity, the findings of VerifyInvariants in
 * the service's tenant, and slots that differ from the rules. Empty at any moment, even under load, unless a rule's
 * capacity has been lowered.
 */
export async function everythingBroken(service: TestService): Promise<string[]> {
  const found = await Promise.all([
    namesOf(service, { ...QUERIES, "an exceeded capacity": EXCEEDED_CAPACITY }),
    shownByTheService(service),
    scheduleDifferences(service),
  ]);
  return found.flat();
}

/**
 * Closes a service. Rejects if {@link brokenInvariants} or `check`, such as {@link foundByTheService}, found anything
 * before.
 */
export async function closeConsistent(
  service: TestService,
  check: (service: TestService) => Promise<readonly string[]> = async () => [],
): Promise<void> {
  const broken = [...(await brokenInvariants(service)), ...(await check(service))];
  await service.close();
  expect(broken).toEqual([]);
}

/** Returns the names of the findings of VerifyInvariants. */
export async function foundByTheService(service: TestService): Promise<string[]> {
  return (await findingsOf(service)).map(({ name }) => name);
}

/** Returns the names of the findings of VerifyInvariants, and the rows they refer to. */
async function shownByTheService(service: TestService): Promise<string[]> {
  const findings = await findingsOf(service);
  return [...findings.map(({ name }) => name), ...(await evidenceOf(service, findings))];
}

async function findingsOf(service: TestService): Promise<readonly Finding[]> {
  const { invariantReport } = await mustCall({ service, as: {} }, "VerifyInvariants", {});
  return (invariantReport as unknown as { findings: Finding[] }).findings;
}

async function namesOf(
  { query, now }: Pick<TestService, "query" | "now">,
  queries: Readonly<Record<string, string>>,
): Promise<string[]> {
  const parts = Object.entries(queries).map(([name, each]) => `SELECT '${name}' AS name WHERE EXISTS (${each})`);
  const at = `'${new Date(now() + MARGIN_MS).toISOString()}'::timestamptz`;
  return (await query(parts.join(" UNION ALL ").replaceAll(":at", at))).map(({ name }) => String(name));
}
