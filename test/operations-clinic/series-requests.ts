import type { JsonObject } from "@bufbuild/protobuf";
import type { AppointmentBody, Clinic } from "../schedule/clinic.js";
import type { RestAnswer } from "../support/rest-request.js";
import { timedBooking } from "./timed-bookings.js";

/** An appointment of a series, in its JSON form. */
export interface Booked extends AppointmentBody {
  readonly seriesId?: string;
  readonly requestedOn?: string;
  readonly desiredOn?: string;
  readonly dueOn?: string;
  readonly firstVisit?: boolean;
}

/** The appointments that a call returns, and their series. */
export interface BookedBody {
  readonly seriesId: string;
  readonly appointments: readonly Booked[];
}

/** Builds a request for two appointments on the day after tomorrow and the next day, 8:00 in Bogotá, with these changes. */
export async function seriesOf(clinic: Clinic, changes: JsonObject = {}): Promise<JsonObject> {
  return timedBooking(clinic, { intervalDays: 1, count: 2, ...changes });
}

/** Returns the appointments in an answer. Throws if the answer is an error. */
export function bookedIn({ status, text, body }: RestAnswer): BookedBody {
  if (status !== 200) throw new Error(`appointments were expected, but the answer is ${text}`);
  return body as unknown as BookedBody;
}
