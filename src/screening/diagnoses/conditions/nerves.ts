/** Names of conditions of the brain, nerves and muscles, separated by commas. */
export const nerves = `
  epilepsia, crisis epilépticas, ataques epilépticos, convulsiones, síndrome convulsivo, migraña, migraña crónica,
  jaqueca, cefalea en racimos, parkinson, mal de parkinson, enfermedad de parkinson, esclerosis, esclerosis múltiple,
  esclerosis lateral amiotrófica, esclerosis sistémica, miastenia, miastenia gravis, guillain barré, guillain barre,
  síndrome de guillain barré, neuropatía, polineuropatía, neuralgia, neuralgia del trigémino, neuritis,
  neuritis óptica, neuromielitis, parálisis facial, parálisis cerebral, parálisis de bell, hemiplejia, hemiplejía,
  paraplejia, paraplejía, cuadriplejia, cuadriplejía, hemiparesia, distrofia muscular, distrofia de duchenne,
  atrofia muscular espinal, atrofia muscular, huntington, corea de huntington, enfermedad de huntington, hidrocefalia,
  microcefalia, espina bífida, mielomeningocele, malformación de chiari, malformación arteriovenosa, ataxia,
  temblor esencial, distonía, piernas inquietas, narcolepsia, vértigo posicional, vértigo periférico,
  síndrome de meniere, meniere, enfermedad de meniere, trauma craneoencefálico, trauma craneano, hematoma subdural,
  aneurisma cerebral, túnel del carpo, túnel carpiano, síndrome del túnel del carpo, radiculopatía, ciática, síndrome,
  síndrome de down, trisomía 21, síndrome de turner, síndrome x frágil, síndrome de rett, enfermedad huérfana,
  enfermedad rara, enfermedad neurológica, enfermedad degenerativa, enfermedad genética, charcot marie tooth,
  encefalopatía, mielopatía, mielitis, lesión medular, muerte cerebral, deterioro cognitivo, neurosífilis`;
