import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { openDemoTransport } from "../../../src/demo/demo-transport.js";
import { fillClinic } from "../../../src/demo/fill-clinic.js";
import { largeClinic } from "../../../src/demo/large-clinic.js";
import type { AppointmentDetails } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import { offerFreedSlots } from "../../../src/jobs/offer-freed-slots.js";
import { openServiceDatabase } from "../../support/open-service-database.js";
import { startTestService } from "../../support/service.js";
import { type Diary, openDiary } from "./diary.js";
import { openScreens, type Staff } from "./staff.js";

/** The local dates of a week without holidays. */
export const DATES = {
  Monday: "2027-03-08",
  Tuesday: "2027-03-09",
  Wednesday: "2027-03-10",
  Thursday: "2027-03-11",
  Friday: "2027-03-12",
  Saturday: "2027-03-13",
} as const;

/** The scopes that only the supervisor has. */
const SUPERVISION = new Set([
  "scheduling:correct",
  "scheduling:overbook",
  "scheduling:enter-late",
  "patients:correct",
  "patients:merge",
  "patients:export",
  "patients:erase",
]);

/** The kinds of resources whose lists the desk reads. Each resource has a code. */
export type Listed =
  | "program"
  | "location"
  | "service"
  | "practitioner"
  | "appointment type"
  | "request source"
  | "cancellation reason"
  | "no-show reason"
  | "schedule block";

/** The demo clinic in the week from 8 March 2027. */
export interface Week {
  readonly diary: Diary;
  /** The front desk, with every scope except those of supervision. */
  readonly reception: Staff;
  /** The supervisor, with every scope. */
  readonly supervisor: Staff;
  /** Calls of the portal and other desks, which the diary does not record. */
  readonly others: Staff;
  /** Moves the clock to a local time of a day. */
  itIs(day: keyof typeof DATES, time: string): void;
  /** Stores the ids of a list by code. */
  learn(kind: Listed, ids: Iterable<readonly [code: string, id: string]>): void;
  /** Returns the id of a resource in a stored list. */
  id(kind: Listed, code: string): string;
  /** Stores the current appointment of a patient and returns it. */
  keep(whose: string, appointment: AppointmentDetails | undefined): AppointmentDetails;
  /** Returns the id and version of a stored appointment, for a change. */
  latest(whose: string): { readonly appointmentId: string; readonly expectedVersion: number };
  /** Returns a stored appointment. */
  kept(whose: string): AppointmentDetails;
  /** Does the job that offers freed slots to the waitlist. */
  offerFreedSlots(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a service with the demo clinic in a new tenant, early on Monday. */
export async function openWeek(): Promise<Week> {
  const service = await startTestService();
  const itIs = (day: keyof typeof DATES, time: string) => service.advance(instant(day, time) - service.now());
  itIs("Monday", "06:00");
  const { internalUrl, tenantId } = service;
  const signal = new AbortController().signal;
  const demo = openDemoTransport({ internalUrl, tenantId, token: () => service.token(), signal });
  await fillClinic(largeClinic, demo, [2027], () => undefined);
  const diary = openDiary();
  const ofReception = service.scopes.filter((scope) => !SUPERVISION.has(scope));
  const open = (actor: string, scopes: readonly string[], note = diary.note) =>
    openScreens({ internalUrl, token: () => service.token({ client: "front-desk", scopes }), actor, note });
  const database = openServiceDatabase(service.databaseUrl);
  return {
    ...openMemory(),
    diary,
    reception: open("recepcion-07", ofReception),
    supervisor: open("supervision-02", service.scopes),
    others: open("portal", service.scopes, () => undefined),
    itIs,
    offerFreedSlots: async () => void (await offerFreedSlots({ database, now: service.now })),
    async close() {
      await database.close();
      await service.close();
    },
  };
}

/** Returns the local time of an instant, such as 07:40. */
export function timeOf(at: Timestamp | undefined): string {
  return given(at && timestampDate(at).toLocaleTimeString("en-GB", { timeZone: "America/Bogota", timeStyle: "short" }));
}

/** Returns the instant of a local time in the form of requests. */
export function momentOf(day: keyof typeof DATES, time: string): { readonly seconds: bigint } {
  return { seconds: BigInt(instant(day, time) / 1_000) };
}

/** Returns a value of an answer. Throws if it is absent. */
export function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the answer lacks a required value");
  return value;
}

function instant(day: keyof typeof DATES, time: string): number {
  return Date.parse(`${DATES[day]}T${time}:00-05:00`);
}

function openMemory(): Pick<Week, "learn" | "id" | "keep" | "kept" | "latest"> {
  const lists = new Map<string, string>();
  const appointments = new Map<string, AppointmentDetails>();
  const kept = (whose: string) => given(appointments.get(whose));
  return {
    learn(kind, ids) {
      for (const [code, id] of ids) lists.set(`${kind} ${code}`, id);
    },
    id: (kind, code) => given(lists.get(`${kind} ${code}`)),
    keep(whose, appointment) {
      appointments.set(whose, given(appointment));
      return kept(whose);
    },
    kept,
    latest(whose) {
      const { appointmentId, version } = kept(whose);
      return { appointmentId, expectedVersion: version };
    },
  };
}
