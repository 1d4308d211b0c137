/** Names of conditions of the blood and the immune system, separated by commas. */
export const bloodAndImmunity = `
  anemia, anemia falciforme, anemia aplásica, anemia ferropénica, drepanocitosis, talasemia, hemofilia,
  enfermedad de von willebrand, von willebrand, trombocitopenia, plaquetas bajas, púrpura, púrpura trombocitopénica,
  trombofilia, leucopenia, neutropenia, pancitopenia, aplasia medular, policitemia, trombocitosis, lupus,
  lupus eritematoso, lupus eritematoso sistémico, síndrome antifosfolípido, síndrome de sjogren, sjogren,
  enfermedad autoinmune, enfermedad mixta del tejido conectivo, inmunodeficiencia, agammaglobulinemia, angioedema,
  angioedema hereditario, anafilaxia, choque anafiláctico, enfermedad de behcet, behcet, enfermedad de kawasaki,
  kawasaki, granulomatosis, linfadenopatía, adenopatías, esplenomegalia, enfermedad de still, sobrecarga de hierro,
  enfermedad de injerto contra huésped, rechazo del trasplante, enfermedad terminal, enfermedad oncológica`;
