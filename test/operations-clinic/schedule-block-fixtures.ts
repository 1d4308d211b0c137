import type { JsonObject } from "@bufbuild/protobuf";
import { type Clinic, day, mustCall } from "../schedule/clinic.js";

/** A block, in its JSON form. */
export interface BlockBody {
  readonly scheduleBlockId: string;
  readonly version: number;
}

/** What a block does, in its JSON form. */
export interface EffectBody {
  readonly withdrawnSlotCount: number;
  readonly restoredSlotCount: number;
  readonly retainedAppointmentCount: number;
  readonly retainedAppointments: readonly JsonObject[];
}

/** The answer of an RPC that changes a block. */
export interface BlockAnswer {
  readonly scheduleBlock: BlockBody;
  readonly effect: EffectBody;
}

/** The whole local day so many days after today. */
export function wholeDay(clinic: Pick<Clinic, "service">, days: number): { startsAt: string; endsAt: string } {
  return { startsAt: `${day(clinic, days)}T00:00:00-05:00`, endsAt: `${day(clinic, days + 1)}T00:00:00-05:00` };
}

/** Adds a block, of the day after tomorrow unless the request says otherwise. */
export async function mustBlock(clinic: Clinic, request: JsonObject): Promise<BlockAnswer> {
  const body = await mustCall(clinic, "CreateScheduleBlock", { kind: "ILLNESS", ...wholeDay(clinic, 2), ...request });
  return body as unknown as BlockAnswer;
}

/** Changes a block by an RPC that is to succeed. */
export async function mustChange(clinic: Clinic, rpc: string, request: JsonObject): Promise<BlockAnswer> {
  return (await mustCall(clinic, rpc, request)) as unknown as BlockAnswer;
}

/** How many free slots the program has. */
export async function openSlots({ service, programId }: Clinic): Promise<number> {
  const [row] = await service.query(
    `SELECT count(*)::int AS open FROM slots WHERE program_id = '${programId}' AND appointment_id IS NULL`,
  );
  return Number(row?.["open"]);
}

/** An appointment as staff see it. */
export async function appointmentOf(clinic: Clinic, appointmentId: string): Promise<JsonObject> {
  return (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"] as JsonObject;
}

/** Where the program is held. */
export async function locationOf(clinic: Clinic): Promise<string> {
  const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
  return (program as { locationId: string }).locationId;
}
