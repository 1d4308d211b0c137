import type { VisitMargins } from "../../src/scheduling/visit-times.js";

/** The margins of a service whose settings say nothing of them. */
export const usualMargins: VisitMargins = {
  checkInEarlyMinutes: 240,
  attendedEarlyMinutes: 60,
  noShowGraceMinutes: 15,
};
