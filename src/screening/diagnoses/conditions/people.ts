/**
 * Words for a person with a condition, in the masculine singular. The feminine and the plurals are derived from them:
 * `diabética`, `diabéticos`, `diabéticas`.
 */
export const people = `diabético hipertenso hipotenso asmático epiléptico esquizofrénico bipolar autista alcohólico
  hemofílico celíaco hipotiroideo hipertiroideo cardiópata seropositivo tuberculoso leproso parkinsoniano anémico anoréxico
  bulímico artrítico reumático fibromiálgico lúpico cirrótico drogadicto farmacodependiente drogodependiente ludópata
  parapléjico cuadripléjico tetrapléjico hemipléjico psicótico maniacodepresivo insulinodependiente
  insulinorrequirente prediabético obeso migrañoso ostomizado hipoglicémico hepatópata nefrópata
  inmunosuprimido inmunodeprimido psoriásico`;
