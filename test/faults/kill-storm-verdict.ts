import type { RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import { type Entry, isDefinite, type Journal } from "./kill-storm-journal.js";

const AUDIT = "SELECT correlation_id AS id, count(*)::int AS rows FROM audit_events GROUP BY 1";
const HISTORY = `SELECT correlation_id AS id, count(*)::int AS rows,
  min(appointment_id::text) AS appointment, min(version) AS version FROM appointment_history GROUP BY 1`;
const CALLERS = 8;

/**
 * Sends every entry of a journal again and says what is wrong with the answers: an entry that is done gives its first
 * answer, as a replay; any other is done now or refused. What is done now is sent once more.
 */
export async function replayAll({ entries, persist }: Journal): Promise<string[]> {
  const violations: string[] = [];
  const waiting = [...entries];
  const replay = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const answer = await persist(entry);
      if (!isDefinite(answer)) violations.push(`${nameOf(entry)} has no outcome: ${answer.status} ${answer.text}`);
      else if (entry.success !== undefined) violations.push(...differences(entry, entry.success, answer));
      else if (answer.status === 200) {
        entry.success = answer;
        violations.push(...differences(entry, answer, await persist(entry)));
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, replay));
  return violations;
}

/**
 * Says which entries of a journal did not leave exactly one trace if they are done, or left any if they are not: one row of
 * the audit trail and, for those of appointments, one of the history, with the appointment and the version that was answered.
 */
export async function wrongEffects({ entries }: Journal, { query }: Pick<TestService, "query">): Promise<string[]> {
  const [audit, history] = [tracesIn(await query(AUDIT)), tracesIn(await query(HISTORY))];
  return entries.flatMap((entry) => {
    const { correlationIds, success } = entry;
    const appointment = success?.body["appointment"] as AnsweredAppointment | undefined;
    const found = {
      audited: audit(correlationIds).map((row) => row["rows"]),
      changes: history(correlationIds).map((row) => [row["rows"], row["appointment"], row["version"]]),
    };
    const expected = {
      audited: success === undefined ? [] : [1],
      changes: appointment === undefined ? [] : [[1, appointment.appointmentId ?? appointment.id, appointment.version]],
    };
    const [is, should] = [found, expected].map((effects) => JSON.stringify(effects));
    return is === should ? [] : [`${nameOf(entry)} left ${is}, but was to leave ${should}`];
  });
}

type Row = Record<string, unknown>;

/** An appointment as staff see it, or as a reschedule answers it. */
interface AnsweredAppointment {
  readonly appointmentId?: string;
  readonly id?: string;
  readonly version: number;
}

/** Finds the rows that calls left, by their correlation ids. */
function tracesIn(rows: readonly Row[]): (correlationIds: readonly string[]) => Row[] {
  const byId = new Map(rows.map((row) => [String(row["id"]), row] as const));
  return (correlationIds) => correlationIds.flatMap((id): Row[] => [byId.get(id) ?? []].flat());
}

function differences(entry: Entry, first: RestAnswer, again: RestAnswer): string[] {
  const isReplay = again.headers.get("idempotent-replayed") === "true";
  if (isReplay && again.status === first.status && again.text === first.text) return [];
  const what = isReplay ? "another replay" : "no replay";
  return [`${nameOf(entry)} was answered ${first.text}, then by ${what}: ${again.status} ${again.text}`];
}

function nameOf({ rpc, key }: Entry): string {
  return `${rpc} ${key}`;
}
