import type { RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import { type Effects, effectsOf } from "./kill-storm-effects.js";
import { type Entry, isDefinite, type Journal } from "./kill-storm-journal.js";

const AUDIT = "SELECT correlation_id AS id, concat(resource_type, ' ', resource_id) AS effect FROM audit_events";
const HISTORY = `SELECT correlation_id AS id, concat(appointment_id, ' ', version) AS effect FROM appointment_history`;
const CALLERS = 8;

/**
 * Sends every entry of a journal again and returns the violations. A successful entry must replay its first answer. Any
 * other entry must be executed now or rejected; if it is executed now, it is sent once more and must replay.
 */
export async function replayAll({ entries, persist, settle }: Journal): Promise<string[]> {
  const violations: string[] = [];
  const waiting = [...entries];
  const replay = async () => {
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const isRefused = entry.success === undefined;
      const answer = await persist(entry);
      if (isRefused && isDefinite(answer)) settle(entry, answer);
      if (!isDefinite(answer)) violations.push(`${nameOf(entry)} has no outcome: ${answer.status} ${answer.text}`);
      else if (!isRefused && entry.success !== undefined) violations.push(...differences(entry, entry.success, answer));
      else if (answer.status === 200) {
        violations.push(...differences(entry, answer, await persist(entry)));
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, replay));
  return violations;
}

/**
 * Returns the entries whose traces do not match their answer: audit rows, and for appointments also history rows with
 * the versions of the answer. An entry without success must have none. Accepting an appointment that is already
 * accepted leaves no trace, and its answer looks the same. So this operation may have fewer audit rows. A hold that a
 * booking, a move or a merge ends has an audit row, but is not in the answer, so it counts only for the operations of
 * holds.
 */
export async function wrongEffects({ entries }: Journal, { query }: Pick<TestService, "query">): Promise<string[]> {
  const [audit, history] = [tracesIn(await query(AUDIT)), tracesIn(await query(HISTORY))];
  return entries.flatMap((entry) => {
    const expected = effectsOf(entry);
    const changes = history(entry.correlationIds).toSorted();
    const audited = audit(entry.correlationIds).filter((effect) => isShown(effect, entry)).length;
    const found: Effects = {
      audited: entry.rpc === "AcceptDisplacedAppointments" ? Math.max(audited, expected.audited) : audited,
      changes: entry.rpc === "MergePatients" ? changes.map(withoutVersion) : changes,
    };
    const [is, should] = [found, expected].map((effects) => JSON.stringify(effects));
    return is === should ? [] : [`${nameOf(entry)} left ${is}, expected ${should}`];
  });
}

/** Whether the answer of an entry shows the resource of an audit row. */
function isShown(effect: string, { rpc }: Entry): boolean {
  return rpc === "HoldAppointmentOption" || rpc === "ReleaseHold" || !effect.startsWith("AppointmentHold ");
}

type Row = Record<string, unknown>;

/** Returns a function that finds the traces of calls by their correlation ids. */
function tracesIn(rows: readonly Row[]): (correlationIds: readonly string[]) => string[] {
  const byId = new Map<string, string[]>();
  for (const { id, effect } of rows) byId.set(String(id), [...(byId.get(String(id)) ?? []), String(effect)]);
  return (correlationIds) => correlationIds.flatMap((id) => byId.get(id) ?? []);
}

function withoutVersion(change: string): string {
  return change.split(" ")[0] ?? change;
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
