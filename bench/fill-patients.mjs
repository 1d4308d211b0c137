import knex from "knex";
import { fillSearchWords } from "../dist/postgres/search/fill-search-words.js";
import { TENANT_ID } from "./registration.mjs";

const FIRST = `María José Juan Luis Ana Carlos Andrés Luz Jorge Diana Sandra Camilo Paola Jesús Laura Santiago Valentina
  Sebastián Daniela Felipe Natalia Óscar Gloria Iván Rocío Mauricio Adriana Hernán Yolanda Nicolás Esperanza Fabián Beatriz
  Álvaro Nubia Rubén Ángela Wilson Íngrid Yeison Zoraida`.split(/\s+/);
const LAST =
  `Rodríguez Gómez González Martínez García López Hernández Sánchez Ramírez Pérez Díaz Torres Rojas Moreno Vargas
  Castro Gutiérrez Álvarez Muñoz Ortiz Jiménez Ruiz Peña Suárez Valencia Cárdenas Quintero Ospina Arboleda Bedoya Zuluaga
  Echeverri Uribe Mosquera Palacios Ibargüen Cuesta Yepes Nieto Ñáñez Quispe Tunubalá Muelas Chiquillo Epiayú`.split(
    /\s+/,
  );

/**
 * Adds so many patients to the measured tenant, by one statement, with the words that they are found by, which are made by what
 * makes them when a database is migrated. Names are drawn from a few hundred that are common in Colombia, the first ones far more
 * often than the last, so that there are words that tens of thousands share. Gives how long the words took, in ms.
 *
 * @param {{ query: (sql: string) => Promise<any[]>, ownerUrl: string }} database
 * @param {number} count
 */
export async function fillPatients(database, count) {
  const some = (names, salt) =>
    `('{${names}}'::text[])[1 + floor(${names.length} * power((hashint4(n + ${salt}) & 65535) / 65536.0, 3))::int]`;
  await database.query(
    `INSERT INTO patients (tenant_id, id, document_type, document_number, document_type_key, document_number_key,
       full_name, phone)
     SELECT '${TENANT_ID}', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'CC', document, 'CC', document,
       ${some(FIRST, 0)} || ' ' || ${some(FIRST, 1e7)} || ' ' || ${some(LAST, 2e7)} || ' ' || ${some(LAST, 3e7)},
       '+57 3' || lpad(((hashint4(n) & 2147483647) % 1000000000)::text, 9, '0')
     FROM (SELECT n, (10000000 + n * 97)::text AS document FROM generate_series(1, ${count}) AS n) AS numbered`,
  );
  const startedAt = performance.now();
  const owner = knex({ client: "pg", connection: database.ownerUrl });
  await owner.transaction(fillSearchWords);
  await owner.destroy();
  const ms = performance.now() - startedAt;
  await database.query("VACUUM ANALYZE patients, patient_search_words");
  return ms;
}
