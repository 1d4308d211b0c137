import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import * as makers from "../contract/makers.js";
import { rpcNamed } from "../contract/published-operations.js";
import { type Clinic, day, openClinic } from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { openCaller } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { ClinicModel, RuleTerms } from "./clinic-model.js";

/** A clinic of the service in a tenant of its own, whose parts stand in the order in which the model knows them. */
export interface World {
  readonly clinics: readonly Clinic[];
  readonly patientIds: readonly string[];
  readonly practitionerIds: readonly string[];
  readonly cancellationReasonId: string;
  readonly appointmentIds: string[];
  readonly blockIds: string[];
  /** The local dates of the two days. */
  readonly dates: readonly [string, string];
  call(rpc: string, request: JsonObject): Promise<RestAnswer>;
  /** The instant of a time of the model, in milliseconds since the epoch. */
  msOf(minute: number): number;
  /** Moves the service's clock to a time of the model. */
  goTo(minute: number): void;
}

export const PROGRAMS = 2;
export const PRACTITIONERS = 2;
export const PATIENTS = 3;
/** How long an appointment of the only type takes. */
export const TYPE_MINUTES = 30;

/** Ten past the hour: no slot begins near to it, however long a run takes. */
const FIRST_MINUTE = 7 * 60 + 10;
const FIRST_TERMS: RuleTerms = { active: true, capacity: 3, minutes: 30, from: 480, to: 600 };

/** Opens a clinic early on the next day of the service's clock, and its model. Their schedules are not made yet. */
export async function openWorld(service: TestService): Promise<{ model: ClinicModel; real: World }> {
  const nextMidnightMs = Date.parse(`${day({ service }, 1)}T00:00:00-05:00`);
  const msOf = (minute: number) => nextMidnightMs + minute * 60_000;
  const goTo = (minute: number) => service.advance(msOf(minute) - service.now());
  goTo(FIRST_MINUTE);
  const as = { tenantId: randomUUID() };
  const caller = openCaller(service, as);
  const call = (rpc: string, request: JsonObject) => caller(methodNamed(rpc), request);
  const practitionerIds = await make(PRACTITIONERS, () => makers.practitioner.create(service, as));
  const patientIds = await make(PATIENTS, async () => patientIn(await call("RegisterPatient", { ...registration() })));
  const serviceId = await makers.healthcareService.create(service, as);
  const cancellationReasonId = await makers.cancellationReason.create(service, as);
  const dates = [day({ service }, 0), day({ service }, 1)] as const;
  const rule = { validFrom: dates[0], validTo: dates[1], ...termsOf(FIRST_TERMS) };
  const changes = { as, serviceId, practitionerIds, rule, materialized: false };
  const clinics = await make(PROGRAMS, () => openClinic(service, changes));
  const lists = { appointmentIds: [], blockIds: [] };
  return {
    model: {
      now: FIRST_MINUTE,
      programs: clinics.map(() => ({ made: false, rule: { ...FIRST_TERMS, version: 1 } })),
      slots: [],
      blocks: [],
      appointments: [],
      options: [],
    },
    real: { clinics, patientIds, practitionerIds, cancellationReasonId, ...lists, dates, call, msOf, goTo },
  };
}

/** One after the other. */
async function make<T>(count: number, create: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let i = 0; i < count; i++) made.push(await create());
  return made;
}

/** The terms of a rule as a request has them. */
export function termsOf({ active, capacity, minutes, from, to }: RuleTerms): JsonObject {
  return {
    active,
    dailyCapacity: capacity,
    slotDurationMinutes: minutes,
    startsAtLocal: localTime(from),
    endsAtLocal: localTime(to),
  };
}

function localTime(minute: number): string {
  return new Date(minute * 60_000).toISOString().slice(11, 19);
}

function patientIn({ text, body }: RestAnswer): string {
  const id = (body["patient"] as { id?: string } | undefined)?.id;
  if (id === undefined) throw new Error(`a patient was to be registered, but the answer is ${text}`);
  return id;
}

const methods = new Map<string, DescMethodUnary>();

/** Found once: there are tens of thousands of calls. */
function methodNamed(rpc: string): DescMethodUnary {
  const method = methods.get(rpc) ?? rpcNamed(rpc);
  methods.set(rpc, method);
  return method;
}
