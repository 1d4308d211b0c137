import type { JsonObject } from "@bufbuild/protobuf";
import { itemsOf, messagesOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";

/** An appointment as an answer shows it; the published operations do not say where it is. */
export interface Shown {
  readonly version: number;
  readonly status: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly practitionerId?: string;
  readonly programId?: string;
  readonly overbooked?: boolean;
}

/** A time of a practitioner in a program. */
export type Place = Required<Pick<Shown, "startsAt" | "endsAt" | "practitionerId" | "programId">>;

/** What a call tells of the bookings. */
export type Trace =
  /** An appointment was that version, 0 for none, and became what is shown; undefined where nothing was answered. */
  | { readonly kind: "CHANGED"; readonly appointmentId: string; readonly from: number; readonly to: Shown | undefined }
  /** Another patient has it, at the next version; an unknown one may, where the appointment is undefined. */
  | { readonly kind: "MERGED"; readonly appointmentId: string | undefined }
  /** Its version was that. */
  | { readonly kind: "REFUSED"; readonly appointmentId: string; readonly version: number }
  | { readonly kind: "SHOWN"; readonly appointmentId: string; readonly shown: Shown }
  /** The practitioner was free at that time. */
  | { readonly kind: "FREE"; readonly place: Place }
  /** The day of the program that the time is on was full. */
  | { readonly kind: "FULL"; readonly programId: string; readonly startsAt: string };

/** Where a token would book; undefined where that is not known. */
export type PlaceOf = (optionToken: string) => Place | undefined;

/** Of a search, how many options are looked at: those that come soonest are fought for most. */
const LOOKED_AT = 2;
/** Refusals behind the look at the version. */
const BEHIND_VERSION = new Set([
  "STATE_NOT_ALLOWED",
  "TOO_EARLY",
  "SAME_SLOT",
  "SLOT_OCCUPIED",
  "PATIENT_OVERLAP",
  "CAPACITY_EXHAUSTED",
]);

/** What a call and its answer tell. Without an answer, or with one that does not say what became of it, it may have been done. */
export function tracesOf(
  rpc: string,
  request: JsonObject,
  answer: RestAnswer | undefined,
  placeOf: PlaceOf,
): readonly Trace[] {
  if (answer === undefined) return lost(rpc, request);
  const place = placeOf(textIn(request, "optionToken")) ?? placeIn(request);
  if (answer.status !== 200) return refused(request, answer, place);
  const { body } = answer;
  if (rpc === "SearchAppointmentOptions") return freeIn(request, body);
  if (rpc === "MergePatients") {
    const moved = (body["movedAppointmentIds"] ?? []) as readonly string[];
    return moved.map((appointmentId) => ({ kind: "MERGED", appointmentId }));
  }
  if (rpc === "SubstitutePractitioner" || rpc === "AcceptRetainedAppointments") return outcomesIn(rpc, request, body);
  const listed = (body["appointments"] ?? []) as readonly AnsweredAppointment[];
  return [...listed.map(shownOf), ...appointmentIn(request, body, place)];
}

type Body = RestAnswer["body"];
type AnsweredAppointment = Shown & { readonly appointmentId?: string; readonly id?: string };

function shownOf(shown: AnsweredAppointment): Trace {
  return { kind: "SHOWN", appointmentId: idOf(shown), shown };
}

function idOf({ appointmentId, id }: AnsweredAppointment): string {
  return `${appointmentId ?? id}`;
}

/** A change where the request names a version, or is a booking; else a look. */
function appointmentIn(request: JsonObject, body: Body, place: Place | undefined): readonly Trace[] {
  const answered = body["appointment"] as AnsweredAppointment | undefined;
  if (answered === undefined) return [];
  const isMove = answered.appointmentId === undefined;
  const to = isMove ? { ...place, ...answered, overbooked: false } : answered;
  const appointmentId = idOf(answered);
  const isLook = request["expectedVersion"] === undefined && request["patientId"] === undefined;
  if (isLook) return [shownOf(to)];
  return [{ kind: "CHANGED", appointmentId, from: Number(request["expectedVersion"] ?? 0), to }];
}

function outcomesIn(rpc: string, request: JsonObject, body: Body): readonly Trace[] {
  const outcomes = (body["outcomes"] ?? []) as unknown as readonly { readonly appointment?: AnsweredAppointment }[];
  return outcomes.flatMap(({ appointment }): Trace[] => {
    if (appointment === undefined) return [];
    const choice = choicesOf(request).find(({ appointmentId }) => appointmentId === appointment.appointmentId);
    if (choice === undefined || rpc === "AcceptRetainedAppointments") return [shownOf(appointment)];
    const { appointmentId, expectedVersion: from } = choice;
    return [{ kind: "CHANGED", appointmentId, from, to: appointment }];
  });
}

function choicesOf({ choices }: JsonObject) {
  return (choices ?? []) as unknown as readonly { readonly appointmentId: string; readonly expectedVersion: number }[];
}

/** Only of a search for somebody new: who moves is not in the way of their own appointment. */
function freeIn(request: JsonObject, body: Body): readonly Trace[] {
  if (request["patientId"] === undefined) return [];
  const options = (body["options"] ?? []) as unknown as readonly Place[];
  return options.slice(0, LOOKED_AT).map(({ startsAt, endsAt, practitionerId, programId }) => ({
    kind: "FREE",
    place: { startsAt, endsAt, practitionerId, programId },
  }));
}

function refused(request: JsonObject, answer: RestAnswer, place: Pick<Place, "startsAt" | "programId"> | undefined) {
  const codes = itemsOf(answer).map((item) => `${item.split(" ")[1]}`);
  const traces: Trace[] = [];
  const { appointmentId, expectedVersion } = request;
  if (typeof appointmentId === "string" && typeof expectedVersion === "number") {
    const stale = itemsOf(answer).indexOf("expectedVersion STALE_VERSION");
    const isBehind = answer.status === 410 || codes.some((code) => BEHIND_VERSION.has(code));
    const current = Number(/\d+$/.exec(`${messagesOf(answer)[stale]}`)?.[0]);
    if (stale >= 0) traces.push({ kind: "REFUSED", appointmentId, version: current });
    else if (isBehind) traces.push({ kind: "REFUSED", appointmentId, version: expectedVersion });
  }
  if (place !== undefined && codes.includes("CAPACITY_EXHAUSTED")) {
    traces.push({ kind: "FULL", programId: place.programId, startsAt: place.startsAt });
  }
  return traces;
}

function placeIn(request: JsonObject): Place | undefined {
  const { programId, startsAt } = request;
  if (typeof programId !== "string" || typeof startsAt !== "string") return undefined;
  return { programId, practitionerId: textIn(request, "practitionerId"), startsAt, endsAt: startsAt };
}

function textIn(request: JsonObject, member: string): string {
  const value = request[member];
  return typeof value === "string" ? value : "";
}

function lost(rpc: string, request: JsonObject): readonly Trace[] {
  const change = (appointmentId: string, from: number): Trace => ({
    kind: "CHANGED",
    appointmentId,
    from,
    to: undefined,
  });
  if (rpc === "MergePatients") return [{ kind: "MERGED", appointmentId: undefined }];
  if (rpc === "SubstitutePractitioner")
    return choicesOf(request).map(({ appointmentId, expectedVersion }) => change(appointmentId, expectedVersion));
  const { appointmentId, expectedVersion } = request;
  if (typeof appointmentId !== "string" || typeof expectedVersion !== "number") return [];
  return [change(appointmentId, expectedVersion)];
}
