/** Names of conditions of the hormone glands and of metabolism, separated by commas. */
export const hormonesAndMetabolism = `
  diabetes, diabetes mellitus, dm 2, dm 1, dm tipo 2, dm tipo 1, azúcar en sangre, diabetes gestacional, diabetes tipo 1, diabetes tipo 2, prediabetes, azúcar alta,
  azúcar en la sangre, azúcar alto, resistencia a la insulina, hiperglicemia, hiperglucemia, hipoglicemia,
  hipoglucemia, cetoacidosis, síndrome metabólico, pie diabético, coma diabético, retinopatía diabética,
  nefropatía diabética, neuropatía diabética, hipotiroidismo, hipertiroidismo, tiroiditis, hashimoto, bocio,
  nódulo tiroideo, nódulos tiroideos, nódulo en la tiroides, nódulos en la tiroides, enfermedad de graves,
  hipoparatiroidismo, hiperparatiroidismo, colesterol alto, triglicéridos altos, hipercolesterolemia,
  hipertrigliceridemia, hiperlipidemia, dislipidemia, obesidad, obesidad mórbida, desnutrición, bulimia, anorexia,
  gota, hiperuricemia, ácido úrico alto, cushing, síndrome de cushing, enfermedad de addison, insuficiencia suprarrenal,
  acromegalia, hiperprolactinemia, prolactinoma, feocromocitoma, hipopituitarismo, diabetes insípida, hemocromatosis,
  fenilcetonuria, fibrosis quística, enfermedad de gaucher, gaucher, enfermedad de fabry, enfermedad de pompe,
  mucopolisacaridosis, porfiria, amiloidosis, galactosemia, enfermedad de wilson, raquitismo, hiponatremia,
  hiperpotasemia, hipocalcemia, hipercalcemia, déficit de vitamina d, déficit de hormona de crecimiento,
  pubertad precoz, ginecomastia, hipogonadismo, enfermedad metabólica, intolerancia a la glucosa`;
