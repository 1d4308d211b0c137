import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { offerFreedSlots } from "../../src/jobs/offer-freed-slots.js";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { type Clinic, day, openClinic } from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { openCaller } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { ClinicModel, RuleAttributes } from "./clinic-model.js";
import { OFFER_MINUTES } from "./offer-model.js";

/** A clinic in the service, in a tenant of its own. Its lists have the order of the model's lists. */
export interface World {
  readonly clinics: readonly Clinic[];
  readonly patientIds: readonly string[];
  readonly practitionerIds: readonly string[];
  readonly cancellationReasonId: string;
  readonly appointmentIds: string[];
  readonly blockIds: string[];
  readonly holdIds: string[];
  readonly entryIds: string[];
  readonly seriesIds: string[];
  /** The local dates of the model's two days. */
  readonly dates: readonly [string, string];
  call(rpc: string, request: JsonObject): Promise<RestAnswer>;
  /** Does the job that offers freed slots. */
  offerFreedSlots(): Promise<unknown>;
  /** Converts a minute of the model to milliseconds since the epoch. */
  msOf(minute: number): number;
  /** Sets the service's clock to a minute of the model. */
  goTo(minute: number): void;
}

export const PROGRAMS = 2;
export const PRACTITIONERS = 2;
export const PATIENTS = 3;
/** Duration of an appointment of the only appointment type, in minutes. */
export const TYPE_MINUTES = 30;

/** Ten past seven. No slot begins soon after ten past an hour, so a slow run gives the same results. */
const FIRST_MINUTE = 7 * 60 + 10;
const FIRST_RULE: RuleAttributes = { active: true, capacity: 3, minutes: 30, from: 480, to: 600 };

/** Opens a clinic on the day after the service's current day, and its model. Neither has slots yet. */
export async function openWorld(
  service: TestService,
  database: Database,
): Promise<{ model: ClinicModel; real: World }> {
  const nextMidnightMs = Date.parse(`${day({ service }, 1)}T00:00:00-05:00`);
  const msOf = (minute: number) => nextMidnightMs + minute * 60_000;
  const goTo = (minute: number) => service.advance(msOf(minute) - service.now());
  goTo(FIRST_MINUTE);
  const as = { tenantId: randomUUID() };
  const caller = openCaller(service, as);
  const call = (rpc: string, request: JsonObject) => caller(methodNamed(rpc), request);
  const practitionerIds = await make(PRACTITIONERS, () => fixtures.practitioner.create(service, as));
  const patientIds = await make(PATIENTS, async () => patientIn(await call("RegisterPatient", { ...registration() })));
  const serviceId = await fixtures.healthcareService.create(service, as);
  const cancellationReasonId = await fixtures.cancellationReason.create(service, as);
  const dates = [day({ service }, 0), day({ service }, 1)] as const;
  const rule = { validFrom: dates[0], validTo: dates[1], ...attributesOf(FIRST_RULE) };
  const changes = { as, serviceId, practitionerIds, rule, materialized: false };
  const clinics = await make(PROGRAMS, () => openClinic(service, changes));
  await call("UpdateTenantSettings", { freedSlotOfferMinutes: OFFER_MINUTES, expectedVersion: 1 });
  const lists = { appointmentIds: [], blockIds: [], holdIds: [], entryIds: [], seriesIds: [] };
  const ofJob = { database, now: service.now };
  return {
    model: {
      now: FIRST_MINUTE,
      programs: clinics.map(() => ({ made: false, rule: { ...FIRST_RULE, version: 1 } })),
      slots: [],
      blocks: [],
      appointments: [],
      options: [],
      holds: [],
      waits: [],
      freed: [],
    },
    real: {
      clinics,
      patientIds,
      practitionerIds,
      cancellationReasonId,
      ...lists,
      dates,
      call,
      msOf,
      goTo,
      offerFreedSlots: () => offerFreedSlots(ofJob),
    },
  };
}

/** Creates resources one after the other. */
async function make<T>(count: number, create: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let i = 0; i < count; i++) made.push(await create());
  return made;
}

/** Converts the attributes of a rule to the fields of a request. */
export function attributesOf({ active, capacity, minutes, from, to }: RuleAttributes): JsonObject {
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

/** Finds a method by its name, once per name. A simulation makes tens of thousands of calls. */
function methodNamed(rpc: string): DescMethodUnary {
  const method = methods.get(rpc) ?? rpcNamed(rpc);
  methods.set(rpc, method);
  return method;
}
