/** The states of an appointment (specification section 3). */
export type AppointmentStatus = "PENDING" | "CONFIRMED" | "CHECKED_IN" | "ATTENDED" | "CANCELLED" | "NO_SHOW";

/** The states in which an appointment holds its slot, the time of its people and a unit of its day's capacity. */
export const liveStatuses: readonly AppointmentStatus[] = ["PENDING", "CONFIRMED", "CHECKED_IN", "ATTENDED"];

/** Whether an appointment in this state holds its slot. */
export function isLive(status: AppointmentStatus): boolean {
  return liveStatuses.includes(status);
}

/** {@link liveStatuses} as the right side of IN in SQL; the exclusion constraints of appointments name the same. */
export const LIVE_STATUSES = `(${liveStatuses.map((status) => `'${status}'`).join(", ")})`;
