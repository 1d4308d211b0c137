import { expect } from "vitest";
import type { RestAnswer } from "./rest-request.js";
import type { TestService } from "./service.js";

/** The resources of a service with their versions, each as `Note 0190163d-… 2`. */
export type Versions = ReadonlySet<string>;

/** Tables whose rows one call can change in large numbers, with the resource type of audit rows and events. */
const TABLES: Readonly<Record<string, string>> = {
  appointments: "Appointment",
  locations: "Location",
  notes: "Note",
  patients: "Patient",
  practitioners: "Practitioner",
  program_rules: "ProgramRule",
  programs: "Program",
  schedule_blocks: "ScheduleBlock",
  user_attention_cases: "UserAttentionCase",
  waitlist_entries: "WaitlistEntry",
};

/** Returns the current versions of all resources. */
export async function readVersions(service: TestService): Promise<Versions> {
  const selects = Object.entries(TABLES).map(
    ([table, type]) => `SELECT concat_ws(' ', '${type}', id, version) AS line FROM ${table}`,
  );
  const rows = await service.query(selects.join(" UNION ALL "));
  return new Set(rows.map(({ line }) => String(line)));
}

/** Returns the resources whose version has changed since, sorted. */
export async function changesSince(service: TestService, before: Versions): Promise<string[]> {
  return [...(await readVersions(service))].filter((line) => !before.has(line)).toSorted();
}

/**
 * Requires exactly one audit row and one event for each of these changes, and no others, from the call with this
 * answer.
 */
export async function expectRecorded(
  service: TestService,
  changed: readonly string[],
  answer: RestAnswer,
): Promise<void> {
  const recorded = await service.query(
    `SELECT concat_ws(' ', a.resource_type, a.resource_id, a.resource_version) AS line,
       (SELECT count(*)::int FROM (SELECT audit_event_id FROM event_outbox UNION ALL SELECT audit_event_id FROM event_positions) e
        WHERE e.audit_event_id = a.id) AS events
     FROM audit_events a WHERE a.correlation_id = '${answer.headers.get("x-correlation-id")}'`,
  );
  expect(recorded.map(({ line }) => String(line)).toSorted()).toEqual(changed);
  expect(recorded.filter(({ events }) => events !== 1)).toEqual([]);
}

/** Counts these resources by type. */
export function countTypes(changed: readonly string[]): Readonly<Record<string, number>> {
  const types = changed.map((line) => line.split(" ")[0] ?? "");
  return Object.fromEntries([...new Set(types)].map((type) => [type, types.filter((other) => other === type).length]));
}
