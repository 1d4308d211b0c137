/** The statuses of an appointment (specification section 3). */
export type AppointmentStatus = "PENDING" | "CONFIRMED" | "CHECKED_IN" | "ATTENDED" | "CANCELLED" | "NO_SHOW";

/**
 * The statuses in which an appointment occupies its slots and the time of patient and practitioner. In these statuses,
 * it also uses a unit of the daily capacity of its rule, unless it is overbooked.
 */
export const liveStatuses: readonly AppointmentStatus[] = ["PENDING", "CONFIRMED", "CHECKED_IN", "ATTENDED"];

/** The statuses in which an appointment can be rescheduled. */
const movableStatuses: readonly AppointmentStatus[] = ["PENDING", "CONFIRMED"];

/** The statuses in which an appointment still awaits its visit or the end of the visit. */
const unfinishedStatuses: readonly AppointmentStatus[] = [...movableStatuses, "CHECKED_IN"];

/** Returns whether an appointment with this status occupies its slots. */
export function isLive(status: AppointmentStatus): boolean {
  return liveStatuses.includes(status);
}

/** Returns whether an appointment with this status can be rescheduled. */
export function isMovable(status: AppointmentStatus): boolean {
  return movableStatuses.includes(status);
}

/** Returns whether an appointment with this status still awaits its visit or the end of the visit. */
export function isUnfinished(status: AppointmentStatus): boolean {
  return unfinishedStatuses.includes(status);
}

/**
 * {@link liveStatuses} as the right side of IN in SQL. The exclusion constraints of appointments list the same
 * statuses.
 */
export const LIVE_STATUSES = inSql(liveStatuses);

/** The statuses for which {@link isMovable} returns true, as the right side of IN in SQL. */
export const MOVABLE_STATUSES = inSql(movableStatuses);

/** The statuses for which {@link isUnfinished} returns true, as the right side of IN in SQL. */
export const UNFINISHED_STATUSES = inSql(unfinishedStatuses);

function inSql(statuses: readonly AppointmentStatus[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(", ")})`;
}
