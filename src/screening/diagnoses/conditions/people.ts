/** What people with a condition are called, in the masculine singular; the other forms follow from it. */
export const people = `diabético hipertenso hipotenso asmático epiléptico esquizofrénico bipolar autista alcohólico
  hemofílico celíaco hipotiroideo hipertiroideo cardiópata seropositivo tuberculoso leproso parkinsoniano anémico anoréxico
  bulímico artrítico reumático fibromiálgico lúpico cirrótico drogadicto farmacodependiente drogodependiente ludópata
  parapléjico cuadripléjico tetrapléjico hemipléjico psicótico maniacodepresivo insulinodependiente
  insulinorrequirente prediabético obeso migrañoso ostomizado hipoglicémico hepatópata nefrópata
  inmunosuprimido inmunodeprimido psoriásico`;
