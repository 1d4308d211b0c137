/** Names of conditions of the digestive organs, hernias included, separated by commas. */
export const digestion = `
  gastritis, gastritis crónica, úlcera gástrica, úlcera péptica, úlcera duodenal, úlceras en el estómago,
  úlcera en el estómago, reflujo gastroesofágico, enfermedad por reflujo, esofagitis, esófago de barrett, hernia,
  hernia hiatal, hernia inguinal, hernia umbilical, hernia abdominal, eventración, acalasia, duodenitis,
  gastroenteritis, enterocolitis, colitis, colitis ulcerativa, enfermedad de crohn, crohn, colon irritable,
  síndrome de colon irritable, colon inflamado, síndrome de intestino irritable, intestino irritable, celiaquía,
  enfermedad celíaca, intolerancia a la lactosa, intolerancia al gluten, diverticulitis, diverticulosis, divertículos,
  apendicitis, peritonitis, obstrucción intestinal, pancreatitis, colelitiasis, colecistitis, coledocolitiasis,
  colangitis, cálculos en la vesícula, piedras en la vesícula, cálculo en la vesícula, barro biliar, cirrosis,
  cirrosis hepática, hígado graso, esteatosis hepática, esteatosis, hepatitis autoinmune, insuficiencia hepática,
  falla hepática, enfermedad hepática, enfermedad del hígado, hepatopatía, hepatomegalia, ictericia, hemorroides,
  fisura anal, fístula anal, fístula perianal, absceso perianal, prolapso rectal, hemorragia digestiva,
  sangrado digestivo, várices esofágicas, síndrome de intestino corto, enfermedad inflamatoria intestinal,
  pólipos en el colon, dispepsia, megacolon, estreñimiento crónico, gastroparesia`;
