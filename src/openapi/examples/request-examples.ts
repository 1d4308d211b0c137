import { bookingExamples, retainedExamples } from "./booking-examples.js";
import { catalogAdminExamples, catalogExamples } from "./catalog-examples.js";
import { deskExamples } from "./desk-examples.js";
import { patientExamples } from "./patient-examples.js";
import { programAdminExamples, programExamples } from "./program-examples.js";
import { publishedExamples } from "./published-examples.js";
import { referenceDataExamples } from "./reference-data-examples.js";
import type { RequestExamples } from "./request-example.js";

const DAY_MS = 86_400_000;
const inBogota = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/Bogota" });

/** The local date (America/Bogota) at this moment, in milliseconds since the epoch: YYYY-MM-DD. */
export function localDate(nowMs: number): string {
  return inBogota.format(nowMs);
}

/** An example of every operation, for requests on the local date of this moment, in milliseconds since the epoch. */
export function requestExamples(nowMs: number): RequestExamples {
  const day = (fromNow: number) => localDate(nowMs + fromNow * DAY_MS);
  return {
    ...publishedExamples(day),
    ...catalogExamples,
    ...programExamples,
    ...catalogAdminExamples,
    ...referenceDataExamples,
    ...programAdminExamples(day),
    ...bookingExamples(day),
    ...retainedExamples(day),
    ...patientExamples,
    ...deskExamples(day),
  };
}
