import type { DemoPatient } from "./demo-clinic.js";

const NAMES = [
  "María Fernanda Quintero Rojas",
  "Juan Camilo Ospina Arango",
  "Luz Dary Becerra Muñoz",
  "Óscar Iván Peñaloza Cruz",
  "Valentina Gómez Ibáñez",
  "Wilson Ferney Acuña Tovar",
  "Ángela Yineth Cárdenas Díaz",
  "Julián Andrés Echeverri Sánchez",
  "Rosa Elvira Chaparro Niño",
  "Santiago Londoño Úsuga",
  "Yurani Paola Mosquera Lozano",
  "Héctor Fabio Giraldo Marín",
  "Nubia Stella Forero Gaitán",
  "Kevin Alexander Murillo Asprilla",
  "Gloria Inés Patiño Vargas",
  "Daniel Esteban Zuluaga Rey",
  "Martha Liliana Cuéllar Bautista",
  "Isabella Trujillo Perdomo",
  "José Ignacio Tascón Viáfara",
  "Sara Lucía Wilches Beltrán",
] as const;

/** Types of Colombian documents: CC for citizens, CE for foreigners, TI for minors. Most patients get CC. */
const DOCUMENT_TYPES = ["CC", "CC", "CC", "CE", "TI"] as const;

/**
 * Returns the first `count` of 20 invented patients. Every call returns the same patients. Document numbers count up
 * from 90000001. Phone numbers are invented. Every second patient, beginning with the first, has an email address at
 * example.com (RFC 2606).
 */
export function invent(count: number): readonly DemoPatient[] {
  return NAMES.slice(0, count).map(patientOf);
}

function patientOf(fullName: string, i: number): DemoPatient {
  const patient = {
    documentType: DOCUMENT_TYPES[i % DOCUMENT_TYPES.length] ?? "CC",
    documentNumber: String(90_000_001 + i),
    fullName,
    phone: `+57 300 555 ${1_001 + i}`,
  };
  return i % 2 === 0 ? { ...patient, email: `paciente${i + 1}@example.com` } : patient;
}
