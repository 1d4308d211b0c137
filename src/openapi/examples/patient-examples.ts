import { demo } from "./demo-ids.js";
import { example, exampleOf, type RequestExamples } from "./request-example.js";

/**
 * Examples of the patient directory, the records of a patient's changes, consents and accesses, eligibility decisions
 * and staff notes.
 */
export const patientExamples: RequestExamples = {
  GetPatient: example({ patientId: demo.patient.quintero }),
  BatchGetPatients: example({ patientIds: [demo.patient.quintero, demo.patient.ospina] }),
  SearchPatients: example({ name: "quintero mar" }),
  FindPatientByDocument: example({ documentType: "CC", documentNumber: "90000001" }),
  ListPatients: example({ pageSize: 20, status: "ACTIVE" }),
  SetPatientStatus: example({ patientId: demo.patient.echeverri, status: "INACTIVE", expectedVersion: 1 }),
  CorrectPatientDocument: example({
    patientId: demo.patient.cuellar,
    documentType: "CC",
    documentNumber: "90000117",
    reason: "Se digitó mal al registrar.",
    expectedVersion: 1,
  }),
  MergePatients: example({
    survivorPatientId: demo.patient.giraldo,
    survivorExpectedVersion: 1,
    duplicatePatientId: demo.patient.forero,
    duplicateExpectedVersion: 1,
    reason: "Es la misma persona, registrada dos veces.",
  }),
  ExportPatient: example({ patientId: demo.patient.quintero, pageSize: 200 }),
  ErasePatient: example({
    patientId: demo.patient.tascon,
    reason: "Lo pidió el titular, radicado 2026-0042.",
    expectedVersion: 1,
  }),
  ListPatientChanges: example({ patientId: demo.patient.quintero }),
  ListConsents: example({ patientId: demo.patient.quintero }),
  ListAccessRecords: example({ patientId: demo.patient.quintero }),
  GetEligibilityDecision: exampleOf("decisionId", {
    example: "CheckEligibility",
    member: "eligibilityDecision.decisionId",
  }),
  CreateNote: example({ patientId: demo.patient.quintero, text: "Prefiere que la llamen por la tarde." }),
  UpdateNote: exampleOf(
    "noteId",
    { example: "CreateNote", member: "note.noteId" },
    { text: "Prefiere que la llamen después de las dos.", expectedVersion: 1 },
  ),
  DeleteNote: exampleOf("noteId", { example: "CreateNote", member: "note.noteId" }, { expectedVersion: 1 }),
  GetNote: exampleOf("noteId", { example: "CreateNote", member: "note.noteId" }),
  ListNotes: example({ patientId: demo.patient.quintero }),
};
