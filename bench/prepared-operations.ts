import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { countWhenMade, dateIn, openClinic, openPrograms, prepareMoves } from "./clinic.js";
import { newPatient } from "./load.js";
import { type Call, RPC } from "./requests.js";

/** A request that can be sent once. */
export interface PreparedRequest {
  readonly message: JsonObject;
  /** The idempotency key to send it under; undefined for a new one. */
  readonly key?: string;
}

/** The names of the measured operations. */
export type OperationName =
  | "POST /patients"
  | "PATCH of a patient"
  | "PATCH of a rule"
  | "reschedule"
  | "eligibility check"
  | "search for options"
  | "replay of a registration";

/** An operation that is measured. */
export interface Operation {
  readonly name: OperationName;
  readonly rpc: string;
  /** Prepares at least one request and at most `count`. */
  prepare(count: number): Promise<readonly PreparedRequest[]>;
}

const SLOTS = 20_000;
/** Programs of 20 practitioners, one for each call of eight at once. */
const LARGE_PROGRAMS = 8;
const PRACTITIONERS = 20;
const SLOTS_A_DAY = 24;
const CATALOG = "cupo.access.v1.CatalogService";

/** Opens a clinic and returns the operations that are measured in it. */
export async function prepareOperations(call: Call): Promise<Operation[]> {
  const clinic = await openClinic(call, SLOTS);
  const { patientId, serviceId } = clinic;
  const { programs: large } = await openPrograms(call, LARGE_PROGRAMS, PRACTITIONERS, SLOTS_A_DAY);
  for (const programId of large) await countWhenMade(call, programId);
  const check = { ...(await openContract(call)), patientId, serviceId, serviceDate: dateIn(3) };
  const search = (i: number) => ({
    patientId,
    serviceId,
    dateFrom: dateIn(1 + (i % 30)),
    dateTo: dateIn(8 + (i % 30)),
  });
  return [
    { name: "POST /patients", rpc: RPC.register, prepare: async (count) => each(count, newPatient) },
    {
      name: "PATCH of a patient",
      rpc: "cupo.access.v1.PatientService/UpdatePatient",
      prepare: (count) => patientUpdates(call, count),
    },
    {
      name: "PATCH of a rule",
      rpc: RPC.updateRule,
      prepare: (count) => ruleUpdates(call, large.slice(0, count)),
    },
    {
      name: "reschedule",
      rpc: RPC.reschedule,
      prepare: async (count) => (await prepareMoves(call, clinic, count)).map((message) => ({ message })),
    },
    {
      name: "eligibility check",
      rpc: "cupo.access.v1.EligibilityService/CheckEligibility",
      prepare: async (count) => each(count, () => check),
    },
    { name: "search for options", rpc: RPC.search, prepare: async (count) => each(count, search) },
    { name: "replay of a registration", rpc: RPC.register, prepare: (count) => replays(call, count) },
  ];
}

function each(count: number, make: (i: number) => JsonObject): PreparedRequest[] {
  return Array.from({ length: count }, (_, i) => ({ message: make(i) }));
}

async function openContract(call: Call): Promise<JsonObject> {
  const named = { code: randomUUID().slice(0, 8), name: "Aseguradora", active: true };
  const payer = { ...named, taxId: "900123456-7" };
  const payerId = (await call<{ payer: { id: string } }>(`${CATALOG}/CreatePayer`, payer)).payer.id;
  const contract = { ...named, payerId, validFrom: "2020-01-01", validTo: "2099-12-31" };
  const created = await call<{ contract: { id: string } }>(`${CATALOG}/CreateContract`, contract);
  return { payerId, contractId: created.contract.id };
}

async function patientUpdates(call: Call, count: number): Promise<PreparedRequest[]> {
  const updates: PreparedRequest[] = [];
  const changes = { fullName: "Ana María Gómez Pérez", phone: "+57 300 555 0101" };
  for (let i = 0; i < count; i += 1) {
    const { patient } = await call<{ patient: { id: string } }>(RPC.register, newPatient());
    updates.push({
      message: { patientId: patient.id, ...changes, expectedVersion: 1, updateMask: "fullName,phone" },
    });
  }
  return updates;
}

/** A rule as the list of a program's rules has it. */
interface Rule {
  readonly ruleId: string;
  readonly version: number;
  readonly dailyCapacity: number;
  readonly startsAtLocal: string;
}

/** Returns the change of a rule to another daily capacity. */
export function otherCapacity({ dailyCapacity }: Rule): JsonObject {
  return { dailyCapacity: dailyCapacity === 9_999 ? 9_998 : 9_999 };
}

/** Returns the change of a rule to slots ten minutes later, or back. */
export function otherTimes({ startsAtLocal }: Rule): JsonObject {
  return { startsAtLocal: startsAtLocal === "07:00:00" ? "07:10:00" : "07:00:00" };
}

/** Returns one update of each rule, because an update changes the rule's version. */
export async function ruleUpdates(
  call: Call,
  programs: readonly string[],
  changesOf: (rule: Rule) => JsonObject = otherCapacity,
): Promise<PreparedRequest[]> {
  const updates: PreparedRequest[] = [];
  for (const programId of programs) {
    const { programRules } = await call<{ programRules: Rule[] }>("cupo.clinic.v1.ProgramService/ListProgramRules", {
      programId,
    });
    for (const rule of programRules) {
      const { ruleId, version: expectedVersion } = rule;
      const changes = changesOf(rule);
      const updateMask = Object.keys(changes).join();
      updates.push({ message: { programId, ruleId, ...changes, expectedVersion, updateMask } });
    }
  }
  return updates;
}

async function replays(call: Call, count: number): Promise<PreparedRequest[]> {
  const request = { message: newPatient(), key: randomUUID() };
  await call(RPC.register, request.message, request.key);
  return Array.from({ length: count }, () => request);
}
