import { anyOf, gap, upTo, wordEnd, wordStart } from "../word-patterns.js";

const CODING = anyOf("i?dxs? (?:cie|icd)[\\s-]?(?:9|10|11)?(?:[\\s-]?cm)?");
const DIAGNOSIS = String.raw`${wordStart}(?:diagnos[a-z]{1,12}|${CODING}\.?)${wordEnd}`;

/**
 * A pattern for the code of a disease in the classification ICD-10, such as `E119` or `E11.9`. B12 is excluded: it is
 * not an ICD-10 category, but a vitamin and a common room number.
 */
const CODE = String.raw`${wordStart}(?!b12(?![.,]?[0-9]))[a-z]-?[0-9][0-9ab](?:[.,-]?[0-9a-z]{1,4})?${wordEnd}`;

/**
 * A pattern for an ICD-10 code with a decimal point, such as `E11.9`. Other text rarely has this form. Codes that begin
 * with V are excluded, because they look like version numbers (`v10.2`).
 */
const POINTED_CODE = String.raw`${wordStart}[a-uw-z][0-9][0-9ab]\.[0-9][0-9a-z]{0,3}${wordEnd}`;

/**
 * Words of names of diseases (`hipertension`), and words for their severity (`severa`). These words may stand between a
 * word for a diagnosis and an ICD-10 code: `dx hipertensión severa I10`.
 */
const DISEASES = `diabetes mellitus tipo hipertension arterial cancer tumor maligno mama prostata cervix colon
  leucemia linfoma asma epoc bronquitis neumonia gripa faringitis amigdalitis gastritis ulcera colitis reflujo
  depresion ansiedad trastorno bipolar esquizofrenia epilepsia migrana parkinson alzheimer demencia lupus artritis
  artrosis osteoporosis lumbago hernia escoliosis hipotiroidismo hipertiroidismo obesidad anemia vih sida sifilis
  hepatitis tuberculosis dengue covid infarto arritmia acv insuficiencia renal cardiaca hepatica cronica cronico aguda
  agudo leve moderada moderado severa severo mayor generalizada fractura infeccion urinaria`;

const FILLERS = `es era fue son is was de del of el la los un una mi su the my con with como as por segun que
  codigos? codes? cod\\.? principal(?:es)? primary secundarios? secondary relacionados? presuntivo confirmado
  definitivo nuevo repetido ingreso egreso medico clinico inicial final actual cie icd 9 10 11 cm version no\\.? nro\\.?
  numero impresion ${DISEASES}`;

/** Words before `diagnóstico` that show that it is not the diagnosis of a person: `centro de diagnóstico A20`. */
const SERVICES = anyOf(`apoyo ayudas? imagen imagenes imagenologia centros? unidad(?:es)? laboratorios? pruebas? examen
  examenes salas? servicios? areas? equipos? consultorios? oficinas? medios? procedimientos? estudios? sede`);

/**
 * Words directly before the number of a place, a document or another thing: `consultorio A20`. A number after such a
 * word does not count as an ICD-10 code.
 */
const PLACES = anyOf(`consultorios? salas? pisos? torre oficina turnos? habitacion cama camilla puerta modulo ventanilla
  bloque ruta rutas bus buses buseta fila ficha vitamina vit caja local apto apartamento casa interior edificio
  pabellon sector silla cubiculo estacion parada paradero portal tiquete ticket formulario formato factura pedido
  orden resolucion placa zona sotano nivel salida version seccion aula en_el en_la al hasta_el`);

const STATEMENT = anyOf("i?dxs? impresion_diagnostica");

/** Words directly after `Dx:` that show that no disease is named: `Dx: pendiente`. */
const EMPTY_ANSWERS = anyOf(`no sin ningun ninguno ninguna nada nunca pendientes? por que aun todavia none pending
  desconocido desconoce ver segun mal errado equivocado`);

const notOfService = String.raw`(?<!${wordStart}${SERVICES}\s(?:de\s|del\s|y\s)?)`;
const notAtPlace = String.raw`(?<!${wordStart}${PLACES}\s(?:(?:no|nro|numero|la|el)\.?\s)?#?\s?)`;
const near = String.raw`(?:(?!\.\s)[^\n]){0,80}?`;
const articles = anyOf("el la mi su un the my codigo code de del");
const isTheir = String.raw`["')]?\s(?:es|era|fue|como|segun|is|was|as)\s(?:${articles}\s){0,3}`;
const inCoding = String.raw`(?: ?[(/-] ?| (?:de|del|en|segun) (?:la |el )?| (?=cie|icd))`;

/** These patterns are for text in lower case. V8 needs three times as long to compile patterns that ignore case. */
const patterns = [
  `${notOfService}${DIAGNOSIS}${upTo(6, FILLERS)}${gap}${CODE}`,
  `${notAtPlace}${CODE}${isTheir}${DIAGNOSIS}`,
  `${notAtPlace}${CODE}${inCoding}${CODING}${wordEnd}`,
  `${DIAGNOSIS}${near}${notAtPlace}${POINTED_CODE}`,
  `${notAtPlace}${POINTED_CODE}${near}${DIAGNOSIS}`,
  String.raw`${wordStart}${STATEMENT}\.?\s?[:=]\s?["'(]?(?!${EMPTY_ANSWERS}${wordEnd})[a-z]{3}`,
].map((source) => new RegExp(source, "u"));

/**
 * Returns whether a plain text contains a diagnosis in one of these forms. A "label" is a word such as `diagnóstico`,
 * `dx` or `CIE` (Spanish for ICD):
 * - a label, then at most six words of {@link FILLERS}, then an ICD-10 code: `dx E119`, `dx hipertensión severa I10`.
 *   The label must not follow a word of {@link SERVICES}.
 * - an ICD-10 code, then at most a few joining words or a sign, then a label: `E119 es mi diagnóstico`,
 *   `E119 (CIE-10)`. The code must not follow a word of {@link PLACES}: `consultorio A20 (CIE-10)`.
 * - an ICD-10 code with a decimal point, at most 80 characters from a label in the same sentence and line
 * - `Dx:` or `impresión diagnóstica:` before a word of three or more letters that is not in {@link EMPTY_ANSWERS}
 *
 * A code alone does not count, because rooms, buses and tickets can have the same form.
 */
export function containsDiagnosisCode(plain: string): boolean {
  const lower = plain.toLowerCase();
  return patterns.some((pattern) => pattern.test(lower));
}
