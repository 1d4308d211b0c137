/** The channel of PostgreSQL's LISTEN and NOTIFY on which processes tell each other whose data changed. */
export const CHANNEL = "cupo_changes";

/** The payload that names tenants: their ids, with commas between. */
export function toPayload(tenantIds: readonly string[]): string {
  return tenantIds.join(",");
}

/** The tenants that a payload names. */
export function readPayload(payload: string): readonly string[] {
  return payload.split(",");
}

/** The payload by which a process finds out whether it hears what is said; `id` is its own. */
export function probePayload(id: string): string {
  return `probe ${id}`;
}

/** Says something on the channel, as a statement whose commit does not wait for the disk. */
export const SAY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
