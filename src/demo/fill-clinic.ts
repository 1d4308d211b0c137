import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { PatientService } from "../gen/cupo/access/v1/patient_service_pb.js";
import { ProgramService } from "../gen/cupo/clinic/v1/program_service_pb.js";
import type { DemoClinic, DemoPatient } from "./demo-clinic.js";
import { fillCatalogs } from "./fill-catalogs.js";
import { fillPrograms } from "./fill-programs.js";
import { fillReferenceData } from "./fill-reference-data.js";
import { unlessThere } from "./make-once.js";

/** The time at which the invented patients gave their consent. The time is in the past whenever the demo starts. */
const CONSENT_GRANTED_AT = { seconds: BigInt(Date.parse("2026-01-15T15:00:00Z") / 1_000) };

/**
 * Creates the missing items of a clinic, one after the other. Calls `onProgress` with a line of text after each kind of
 * items. Rejects with the error of a failed call.
 *
 * Resolves to true, and creates nothing, if the practitioners of the clinic's last program are set: the clinic is then
 * complete. Otherwise resolves to false.
 */
export async function fillClinic(
  clinic: DemoClinic,
  transport: Transport,
  years: readonly number[],
  onProgress: (line: string) => void,
): Promise<boolean> {
  const schedule = createClient(ProgramService, transport);
  if (await isComplete(clinic, schedule)) return true;
  const report = (things: readonly unknown[], kind: string) => onProgress(`${kind}: ${things.length}`);
  const reference = await fillReferenceData(clinic, transport, report);
  await fillCatalogs(clinic, reference, transport, report);
  const patients = createClient(PatientService, transport);
  for (const patient of clinic.patients) await unlessThere(registerPatient(patients, patient));
  report(clinic.patients, "patients");
  for (const year of years) await schedule.seedHolidays({ year });
  onProgress(`holidays of ${years.join(" and ")}`);
  await fillPrograms(clinic, reference, transport);
  report(clinic.programs, "programs with their rules, services and practitioners");
  return false;
}

async function isComplete({ programs }: DemoClinic, schedule: Client<typeof ProgramService>): Promise<boolean> {
  const code = programs.at(-1)?.code;
  if (code === undefined) throw new Error("a demo clinic has at least one program");
  const [program] = (await schedule.listPrograms({ code })).programs;
  if (program === undefined) return false;
  const { programPractitioners } = await schedule.getProgramPractitioners({ programId: program.programId });
  return (programPractitioners?.version ?? 1) > 1;
}

async function registerPatient(patients: Client<typeof PatientService>, patient: DemoPatient): Promise<void> {
  await patients.registerPatient({ ...patient, consentGrantedAt: CONSENT_GRANTED_AT });
}
