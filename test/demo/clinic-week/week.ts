import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { openDemoTransport } from "../../../src/demo/demo-transport.js";
import { fillClinic } from "../../../src/demo/fill-clinic.js";
import { largeClinic } from "../../../src/demo/large-clinic.js";
import type { AppointmentDetails } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import { startTestService } from "../../support/service.js";
import { type Diary, openDiary } from "./diary.js";
import { openScreens, type Staff } from "./staff.js";

/** The local date of each day of a week in which no day is a holiday. */
export const DATES = {
  Monday: "2027-03-08",
  Tuesday: "2027-03-09",
  Wednesday: "2027-03-10",
  Thursday: "2027-03-11",
  Friday: "2027-03-12",
  Saturday: "2027-03-13",
} as const;

/** What only the supervisor may do. */
const SUPERVISION = new Set([
  "scheduling:correct",
  "scheduling:overbook",
  "patients:correct",
  "patients:merge",
  "patients:export",
  "patients:erase",
]);

/** What the desk has lists of; each thing in them is known by its code. */
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
  /** At the front desk, with every scope but those of supervision. */
  readonly reception: Staff;
  /** Who may do everything. */
  readonly supervisor: Staff;
  /** What the portal and other desks do meanwhile, of which the diary tells nothing. */
  readonly others: Staff;
  /** Moves the clock to a local time of a day. */
  itIs(day: keyof typeof DATES, time: string): void;
  /** Keeps the ids of a list, by code. */
  learn(kind: Listed, ids: Iterable<readonly [code: string, id: string]>): void;
  /** The id of something in a list that was read. */
  id(kind: Listed, code: string): string;
  /** Keeps an appointment as it is now, by whom it is for, and gives it. */
  keep(whose: string, appointment: AppointmentDetails | undefined): AppointmentDetails;
  /** The id of an appointment that was kept, and the version that a change of it is based on. */
  latest(whose: string): { readonly appointmentId: string; readonly expectedVersion: number };
  /** The appointment that was kept. */
  kept(whose: string): AppointmentDetails;
  close(): Promise<void>;
}

/** Starts a service with the demo clinic in a tenant of its own, early on the Monday. */
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
  return {
    ...openMemory(),
    diary,
    reception: open("recepcion-07", ofReception),
    supervisor: open("supervision-02", service.scopes),
    others: open("portal", service.scopes, () => undefined),
    itIs,
    close: service.close,
  };
}

/** The local time of an instant, in the form 07:40. */
export function timeOf(at: Timestamp | undefined): string {
  return given(at && timestampDate(at).toLocaleTimeString("en-GB", { timeZone: "America/Bogota", timeStyle: "short" }));
}

/** The instant of a local time, as requests take it. */
export function momentOf(day: keyof typeof DATES, time: string): { readonly seconds: bigint } {
  return { seconds: BigInt(instant(day, time) / 1_000) };
}

/** What an answer has. Throws where it has not. */
export function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the answer lacks what it is asked for");
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
