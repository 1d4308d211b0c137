/**
 * How many appointments a date still takes. Zero, never less, where more are booked than the capacity: it may be lowered
 * below what is booked, which cancels nothing and offers nothing more.
 */
export function remainingCapacity(dailyCapacity: number, booked: number): number {
  return Math.max(0, dailyCapacity - booked);
}
