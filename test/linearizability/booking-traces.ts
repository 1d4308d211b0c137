import type { JsonObject } from "@bufbuild/protobuf";
import { itemsOf, messagesOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";

/** An appointment in an answer. The published operations return no practitioner and program. */
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
export type Placement = Required<Pick<Shown, "startsAt" | "endsAt" | "practitionerId" | "programId">>;

/** What a call and its answer say about the bookings. */
export type Trace =
  /**
   * An appointment changed from version `from` to `to`; `from` is 0 for a booking, and `to` is undefined without an
   * answer.
   */
  | {
      readonly kind: "CHANGED";
      readonly appointmentId: string;
      readonly from: number;
      readonly to: Shown | undefined;
      /** The hold that the change booked. */
      readonly holdId?: string | undefined;
    }
  /**
   * The appointment moved to another patient with the next version. If its id is undefined, any appointment may have
   * moved.
   */
  | { readonly kind: "MERGED"; readonly appointmentId: string | undefined }
  /** The appointment had this version. */
  | { readonly kind: "REFUSED"; readonly appointmentId: string; readonly version: number }
  | { readonly kind: "SHOWN"; readonly appointmentId: string; readonly shown: Shown }
  /** The practitioner was free at that time. */
  | { readonly kind: "FREE"; readonly placement: Placement }
  | Held
  /** The hold was released. */
  | { readonly kind: "RELEASED"; readonly holdId: string }
  /** All holds of a patient ended, because the patient was merged. */
  | { readonly kind: "HOLDS_ENDED"; readonly patientId: string }
  /** The program had no capacity left on the day of `startsAt`. */
  | { readonly kind: "FULL"; readonly programId: string; readonly startsAt: string };

/** A time is held for a patient, or for an appointment that is to be moved. */
export interface Held {
  readonly kind: "HELD";
  readonly holdId: string;
  readonly patientId: string;
  readonly appointmentId: string | undefined;
  readonly placement: Placement;
  /** How long the hold lasts at least, in milliseconds. */
  readonly lastsMs: number;
}

/** Returns the placement of an option token, and the hold that it books; undefined if it is not known. */
export type PlacementOf = (optionToken: string) => (Placement & { readonly holdId?: string }) | undefined;

/** The number of options to check per search. The earliest ones have the most competition. */
const LOOKED_AT = 2;
/** Errors that are detected after the version was checked. */
const BEHIND_VERSION = new Set([
  "STATE_NOT_ALLOWED",
  "TOO_EARLY",
  "SAME_SLOT",
  "SLOT_OCCUPIED",
  "PATIENT_OVERLAP",
  "CAPACITY_EXHAUSTED",
]);

/** Returns the traces of a call and its answer. A call without a definite answer may or may not have been executed. */
export function tracesOf(
  rpc: string,
  request: JsonObject,
  answer: RestAnswer | undefined,
  placementOf: PlacementOf,
): readonly Trace[] {
  if (answer === undefined) return lost(rpc, request);
  if (SEVERAL.has(rpc)) return answer.status === 200 ? severalIn(answer.body) : fullDays(rpc, request, answer);
  const known = placementOf(textIn(request, "optionToken"));
  const placement = known ?? placementIn(request);
  if (answer.status !== 200) return refused(request, answer, placement);
  const { body } = answer;
  if (rpc === "SearchAppointmentOptions") return freeIn(request, body);
  if (rpc === "MergePatients") {
    const moved = (body["movedAppointmentIds"] ?? []) as readonly string[];
    const ended: Trace = { kind: "HOLDS_ENDED", patientId: textIn(request, "duplicatePatientId") };
    return [ended, ...moved.map((appointmentId): Trace => ({ kind: "MERGED", appointmentId }))];
  }
  if (rpc === "HoldAppointmentOption") return [heldIn(request, body)];
  if (rpc === "ReleaseHold") return [{ kind: "RELEASED", holdId: textIn(request, "holdId") }];
  if (rpc === "SubstitutePractitioner" || rpc === "AcceptDisplacedAppointments") return outcomesIn(rpc, request, body);
  const listed = (body["appointments"] ?? []) as readonly AnsweredAppointment[];
  return [...listed.map(shownOf), ...appointmentIn(request, body, placement, known?.holdId)];
}

/** The RPCs that change several appointments, each from the version before the one in the answer. */
const SEVERAL = new Set(["BookSeries", "BookTogether", "MoveSeries", "CancelSeries", "SwapPractitioners"]);

function severalIn(body: Body): readonly Trace[] {
  const changed = (body["appointments"] ?? []) as readonly AnsweredAppointment[];
  return changed.map((to) => ({ kind: "CHANGED", appointmentId: idOf(to), from: to.version - 1, to }));
}

const DAY_MS = 86_400_000;

/** A refused series says which days were full. A family may only have needed more units than a day had. */
function fullDays(rpc: string, request: JsonObject, answer: RestAnswer): readonly Trace[] {
  if (rpc !== "BookSeries") return [];
  return itemsOf(answer).flatMap((item): Trace[] => {
    const [, index] = /^occurrences\[(\d+)\] CAPACITY_EXHAUSTED$/.exec(item) ?? [];
    if (index === undefined) return [];
    const startMs = Date.parse(textIn(request, "startsAt")) + Number(index) * Number(request["intervalDays"]) * DAY_MS;
    return [{ kind: "FULL", programId: textIn(request, "programId"), startsAt: new Date(startMs).toISOString() }];
  });
}

type Body = RestAnswer["body"];
type AnsweredAppointment = Shown & { readonly appointmentId?: string; readonly id?: string };

function shownOf(shown: AnsweredAppointment): Trace {
  return { kind: "SHOWN", appointmentId: idOf(shown), shown };
}

function idOf({ appointmentId, id }: AnsweredAppointment): string {
  return `${appointmentId ?? id}`;
}

/** A request with an expected version or a patient is a change; any other one is a read. */
function appointmentIn(
  request: JsonObject,
  body: Body,
  placement: Placement | undefined,
  holdId: string | undefined,
): readonly Trace[] {
  const answered = body["appointment"] as AnsweredAppointment | undefined;
  if (answered === undefined) return [];
  const isMove = answered.appointmentId === undefined;
  const to = isMove ? { ...placement, ...answered, overbooked: false } : answered;
  const appointmentId = idOf(answered);
  const isLook = request["expectedVersion"] === undefined && request["patientId"] === undefined;
  if (isLook) return [shownOf(to)];
  return [{ kind: "CHANGED", appointmentId, from: Number(request["expectedVersion"] ?? 0), to, holdId }];
}

const DEFAULT_MINUTES = 5;

function heldIn(request: JsonObject, body: Body): Held {
  const { holdId, patientId, appointmentId, startsAt, endsAt, practitionerId, programId } = body["hold"] as Placement &
    Held;
  const placement = { startsAt, endsAt, practitionerId, programId };
  const lastsMs = Number(request["minutes"] ?? DEFAULT_MINUTES) * 60_000;
  return { kind: "HELD", holdId, patientId, appointmentId, placement, lastsMs };
}

function outcomesIn(rpc: string, request: JsonObject, body: Body): readonly Trace[] {
  const outcomes = (body["outcomes"] ?? []) as unknown as readonly { readonly appointment?: AnsweredAppointment }[];
  return outcomes.flatMap(({ appointment }): Trace[] => {
    if (appointment === undefined) return [];
    const choice = choicesOf(request).find(({ appointmentId }) => appointmentId === appointment.appointmentId);
    if (choice === undefined || rpc === "AcceptDisplacedAppointments") return [shownOf(appointment)];
    const { appointmentId, expectedVersion: from } = choice;
    return [{ kind: "CHANGED", appointmentId, from, to: appointment }];
  });
}

function choicesOf({ choices }: JsonObject) {
  return (choices ?? []) as unknown as readonly { readonly appointmentId: string; readonly expectedVersion: number }[];
}

/** Only for a search of a new appointment: a search for a reschedule ignores the appointment itself. */
function freeIn(request: JsonObject, body: Body): readonly Trace[] {
  if (request["patientId"] === undefined) return [];
  const options = (body["options"] ?? []) as unknown as readonly Placement[];
  return options.slice(0, LOOKED_AT).map(({ startsAt, endsAt, practitionerId, programId }) => ({
    kind: "FREE",
    placement: { startsAt, endsAt, practitionerId, programId },
  }));
}

function refused(
  request: JsonObject,
  answer: RestAnswer,
  placement: Pick<Placement, "startsAt" | "programId"> | undefined,
) {
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
  const isOnlyOption = request["alternativeOptionTokens"] === undefined;
  if (placement !== undefined && isOnlyOption && codes.includes("CAPACITY_EXHAUSTED")) {
    traces.push({ kind: "FULL", programId: placement.programId, startsAt: placement.startsAt });
  }
  return traces;
}

function placementIn(request: JsonObject): Placement | undefined {
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
