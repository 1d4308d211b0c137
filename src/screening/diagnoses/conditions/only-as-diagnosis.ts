/**
 * Names of symptoms, minor ailments and organs, and words with several meanings, separated by commas. They count as
 * conditions after a word for a diagnosis, with at most three words between: `dx: gripa` is the finding of a physician,
 * but `tengo gripa` is a complaint of a patient. Some also count after `sufro de`.
 */
export const onlyAsDiagnosis = `
  gripa, gripe, resfriado, virosis, virus, infección, infección viral, fiebre, tos, diarrea, vómito, dolor,
  dolor de cabeza, dolor abdominal, dolor crónico, cefalea, mareo, vértigo, mialgia, artralgia,
  espasmo, espasmo muscular, contractura, desgarro, fractura, fisura, trauma,
  politraumatismo, contusión, quemadura, quemaduras, herida, intoxicación, mordedura, picadura, hematoma, edema,
  inflamación, alergia, alergias, alergia alimentaria, estrés, ansiedad, insomnio, pánico, fobia, neurosis, histeria,
  estreñimiento, gases, reflujo, acidez, colon, úlcera, úlceras, cálculo, cálculos, piedras, fístula, absceso, masa,
  nódulo, nódulos, lesión, lesiones, ganglios, bulto, mancha, lunar, verruga, verrugas, hongos, hongo, parásitos, lombrices,
  piojos, ladillas, rabia, insuficiencia, falla, deficiencia, déficit, retraso, retardo, parálisis, malformación,
  atrofia, degeneración, estenosis, obstrucción, prolapso, hemorragia, sangrado, soplo, bloqueo, shock, sobrepeso,
  delgadez, enanismo, tartamudez, dependencia, abuso, juanete, callo, uñero, sinusal, menopausia, dismenorrea,
  cólicos, amenorrea, embarazo, hipertrofia, hiperplasia, reumatoide, discapacidad, tiroides, próstata, presión, corazón, riñón, riñones, hígado, nervios,
  tensión,
  azúcar, colesterol, triglicéridos, enfermedad, patología, quebradura, desnutrido, ictericia, síncope, convulsión,
  temblor, cardiaco, coágulo, coágulos, trombo, hidropesía, deshidratación, gastro, orzuelos, edemas, rectorragia, disnea,
  taquicardias, palpitaciones, cansancio, fatiga crónica, fatiga, astenia, adinamia, disfagia, disuria, prurito`;
