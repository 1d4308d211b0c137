/** The channel of LISTEN and NOTIFY on which processes report the tenants whose data changed. */
export const CHANNEL = "cupo_changes";

/** Returns the payload for these tenants: their ids, separated by commas. */
export function toPayload(tenantIds: readonly string[]): string {
  return tenantIds.join(",");
}

/** Returns the ids of the tenants in a payload of {@link toPayload}. */
export function readPayload(payload: string): readonly string[] {
  return payload.split(",");
}

/** Returns the payload of a probe. A process sends probes to check that it receives notifications. `id` is unique. */
export function probePayload(id: string): string {
  return `probe ${id}`;
}

/** SQL that sends the payload $2 on the channel $1. The commit does not wait for the disk. */
export const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
