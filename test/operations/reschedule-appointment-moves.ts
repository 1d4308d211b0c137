import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  bookFirst,
  type Clinic,
  calendarOf,
  commonCatalogs,
  day,
  mustCall,
  openClinic,
  optionsFor,
  rowsOfClinic,
} from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { createFromTemplate, type RowsOf } from "../support/fixture-templates.js";
import { expectProblem } from "../support/problem.js";
import type { RequestChanges, RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** An appointment and seven slots on the same day that it can move to, each with its time and token. */
export interface Move {
  readonly clinic: Clinic;
  readonly appointment: AppointmentBody;
  readonly options: Awaited<ReturnType<typeof optionsFor>>;
}

/** Deviations from the request that moves the appointment to the first option. */
export interface MoveChanges extends Omit<RequestChanges, "body"> {
  readonly appointmentId?: string;
  readonly optionToken?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

/**
 * Books the first slot of a day in a new program and searches for other slots. `days` is the number of days after
 * today.
 */
export async function prepareMove(
  service: TestService,
  { rule = {}, as = {}, days = 2 }: { readonly rule?: JsonObject; readonly as?: TokenFor; readonly days?: number } = {},
): Promise<Move> {
  const words = JSON.stringify([await calendarOf(service, as), await commonCatalogs(service, as), rule, as]);
  const make = () => makeBooked(service, { rule, as });
  const made = await createFromTemplate(service, `Move ${words}`, rowsOfBooked, make, ({ patient }) =>
    fixtures.otherDocument(patient),
  );
  const { ids, appointment } = made;
  const clinic = { service, as, ...ids };
  const { appointmentId } = appointment;
  const dates = { dateFrom: day(clinic, days), dateTo: day(clinic, days) };
  return { clinic, appointment, options: await optionsFor(clinic, { appointmentId, ...dates }) };
}

/** A clinic, and a patient with an appointment there. */
interface Booked {
  readonly ids: Omit<Clinic, "service" | "as">;
  readonly patient: fixtures.Registered;
  readonly appointment: AppointmentBody;
}

async function makeBooked(service: TestService, { rule, as }: { rule: JsonObject; as: TokenFor }): Promise<Booked> {
  const clinic = await openClinic(service, { rule, as });
  const patient = await fixtures.provideRegistered(service, {}, as);
  const appointment = await bookFirst(clinic, patient.id);
  const { service: _, as: __, ...ids } = clinic;
  return { ids, patient, appointment };
}

/** Slots are last because one of them refers to the appointment. */
const rowsOfBooked: RowsOf<Booked> = ({ ids, patient, appointment: { appointmentId } }) => {
  const { slots = "", ...rows } = rowsOfClinic(ids);
  return {
    ...rows,
    ...fixtures.rowsOfPatient(patient),
    appointments: `id = '${appointmentId}'`,
    appointment_history: `appointment_id = '${appointmentId}'`,
    day_counters: `rule_id = '${ids.ruleId}'`,
    slots,
  };
};

/** Sends the request that moves the appointment. */
export async function sendMove(move: Move, changes: MoveChanges = {}): Promise<RestAnswer> {
  const { service, as } = move.clinic;
  const {
    appointmentId = move.appointment.appointmentId,
    expectedVersion = move.appointment.version,
    ...rest
  } = changes;
  const { optionToken = tokenOf(move), token = await service.token(as), headers = {} } = rest;
  const body = { optionToken, expectedVersion };
  return service.request("POST", `/appointments/${appointmentId}/reschedule`, { token, headers, body });
}

/** Returns the token of an option. Defaults to the first one. */
export function tokenOf({ options }: Pick<Move, "options">, index = 0): string {
  const option = options[index];
  if (option === undefined) throw new Error(`there are ${options.length} options only`);
  return option.optionToken;
}

/** Requires that a request is rejected with these items, each `field CODE`, and that it writes nothing. */
export async function expectRefusal(
  move: Move,
  changes: MoveChanges,
  status: number,
  items: readonly string[] = [],
): Promise<void> {
  const before = await everything(move);
  const answer = await sendMove(move, changes);
  expectProblem(answer, status, items);
  expect(await everything(move)).toEqual(before);
  expect(await auditOf(move.clinic.service, answer)).toEqual([]);
}

/**
 * Requires that a request moves the appointment, for example with a token that earlier rejections must not have used
 * up.
 */
export async function expectMoved(move: Move, changes: MoveChanges = {}): Promise<void> {
  const answer = await sendMove(move, changes);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
}

/** Cancels an appointment at the version at which it was booked. */
export async function cancel(
  clinic: Clinic,
  { appointmentId: id, version }: Pick<AppointmentBody, "appointmentId" | "version">,
): Promise<void> {
  const cancellationReasonId = await fixtures.cancellationReason.create(clinic.service, clinic.as);
  const request = { appointmentId: id, expectedVersion: version, cancellationReasonId };
  await mustCall(clinic, "CancelAppointment", request);
}

/**
 * Returns the row count and the latest writing transaction of each table that a rescheduling writes. Every write
 * changes one of them, even one with equal values.
 */
async function everything({ clinic }: Move): Promise<Record<string, unknown>[]> {
  const tables = [
    "appointments",
    "appointment_history",
    "day_counters",
    "consumed_option_tokens",
    "idempotency_keys",
    "audit_events",
    "slots",
  ];
  const stateOf = (table: string) =>
    `SELECT '${table}' AS name, count(*), max(xmin::text::bigint) AS last FROM ${table}`;
  return clinic.service.query(tables.map(stateOf).join(" UNION ALL "));
}
