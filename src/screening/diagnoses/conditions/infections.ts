/** Names of infections, separated by commas. */
export const infections = `
  covid, covid 19, coronavirus, virus de inmunodeficiencia humana, sida, sífilis, gonorrea, clamidia,
  herpes, herpes zóster, herpes genital, culebrilla, papiloma, papiloma humano, virus del papiloma, condilomas,
  verrugas genitales, tricomoniasis, vaginosis, candidiasis, enfermedad de transmisión sexual,
  infección de transmisión sexual, hepatitis, tuberculosis, lepra, enfermedad de hansen, dengue, dengue grave,
  zika, chikunguña, chikungunya, chicunguña, malaria, paludismo, fiebre amarilla, leishmaniasis, leishmaniosis, chagas,
  mal de chagas, enfermedad de chagas, toxoplasmosis, leptospirosis, brucelosis, cisticercosis, neurocisticercosis,
  amebiasis, giardiasis, parasitosis, ascariasis, teniasis, salmonelosis, tifoidea, fiebre tifoidea, cólera,
  varicela, sarampión, rubéola, paperas, parotiditis, poliomielitis, meningitis, encefalitis, tétanos, difteria,
  mononucleosis, citomegalovirus, influenza, viruela del mono, viruela símica, escarlatina, erisipela, celulitis,
  impétigo, sepsis, septicemia, choque séptico, bacteremia, osteomielitis, absceso, absceso hepático, escabiosis, sarna,
  infección urinaria, infección vaginal, infección renal, infección en la sangre, infección pulmonar,
  infección intestinal, infección de vías urinarias, infección en los riñones, infección en el riñón,
  infección en el oído, helicobacter, helicobacter pylori, onicomicosis, histoplasmosis, criptococosis, aspergilosis,
  enfermedad de lyme, fiebre reumática, clostridium, virus sincitial, hongos en los pulmones, hongos en las uñas`;
