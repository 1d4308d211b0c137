import type { JsonObject } from "@bufbuild/protobuf";
import { type Clinic, day, mustCall } from "../schedule/clinic.js";

/** A block, in its JSON form. */
export interface BlockBody {
  readonly scheduleBlockId: string;
  readonly version: number;
}

/** The effect of a block, in its JSON form. */
export interface EffectBody {
  readonly withdrawnSlotCount: number;
  readonly restoredSlotCount: number;
  readonly displacedAppointmentCount: number;
  readonly displacedAppointments: readonly JsonObject[];
}

/** The response of an RPC that changes a block. */
export interface BlockAnswer {
  readonly scheduleBlock: BlockBody;
  readonly effect: EffectBody;
}

/** Returns the whole local day a number of days after today. */
export function wholeDay(clinic: Pick<Clinic, "service">, days: number): { startsAt: string; endsAt: string } {
  return { startsAt: `${day(clinic, days)}T00:00:00-05:00`, endsAt: `${day(clinic, days + 1)}T00:00:00-05:00` };
}

/** Creates a block. Defaults to the day after tomorrow. */
export async function mustBlock(clinic: Clinic, request: JsonObject): Promise<BlockAnswer> {
  const body = await mustCall(clinic, "CreateScheduleBlock", { kind: "ILLNESS", ...wholeDay(clinic, 2), ...request });
  return body as unknown as BlockAnswer;
}

/** Changes a block by an RPC that must succeed. */
export async function mustChange(clinic: Clinic, rpc: string, request: JsonObject): Promise<BlockAnswer> {
  return (await mustCall(clinic, rpc, request)) as unknown as BlockAnswer;
}

/** Returns the number of free slots of the program. */
export async function openSlots({ service, programId }: Clinic): Promise<number> {
  const [row] = await service.query(
    `SELECT count(*)::int AS open FROM slots WHERE program_id = '${programId}' AND appointment_id IS NULL`,
  );
  return Number(row?.["open"]);
}

/** Returns an appointment as staff see it. */
export async function appointmentOf(clinic: Clinic, appointmentId: string): Promise<JsonObject> {
  return (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"] as JsonObject;
}

/** Returns the program's location. */
export async function locationOf(clinic: Clinic): Promise<string> {
  const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
  return (program as { locationId: string }).locationId;
}
