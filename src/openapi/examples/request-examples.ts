import { bookingExamples, displacedExamples } from "./booking-examples.js";
import { catalogAdminExamples, catalogExamples } from "./catalog-examples.js";
import { deskExamples } from "./desk-examples.js";
import { importExamples } from "./import-examples.js";
import { patientExamples } from "./patient-examples.js";
import { programAdminExamples, programExamples } from "./program-examples.js";
import { publishedExamples } from "./published-examples.js";
import { referenceDataExamples } from "./reference-data-examples.js";
import type { RequestExamples } from "./request-example.js";
import { seriesExamples } from "./series-examples.js";
import { tenantExamples } from "./tenant-examples.js";
import { tenantSettingsExamples } from "./tenant-settings-examples.js";
import { webhookExamples } from "./webhook-examples.js";

const DAY_MS = 86_400_000;
const inBogota = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/Bogota" });

/** Returns the local date (America/Bogota) at this time: YYYY-MM-DD. `nowMs` is in milliseconds since the epoch. */
function localDate(nowMs: number): string {
  return inBogota.format(nowMs);
}

/**
 * Returns examples of every unary operation. Dates that must be near today are relative to the local date at `nowMs`,
 * in milliseconds since the epoch. Other dates are fixed, such as those of imported appointments.
 */
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
    ...displacedExamples(day),
    ...seriesExamples(day),
    ...patientExamples,
    ...deskExamples(day),
    ...tenantExamples,
    ...tenantSettingsExamples,
    ...webhookExamples,
    ...importExamples,
  };
}
