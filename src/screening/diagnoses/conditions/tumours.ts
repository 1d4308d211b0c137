const ORGANS = `mama seno prostata pulmon colon recto estomago gastrico cervix utero cuello_uterino cuello_de_utero
  ovario endometrio tiroides piel higado pancreas rinon renal vejiga esofago laringe lengua garganta testiculo cerebro
  cerebral hueso tiroideo colorrectal cervicouterino papilar basocelular escamocelular`;

/** Names of benign and malignant tumours, separated by commas. `ca` is short for cáncer: `ca de mama`. */
export const tumours = `
  cáncer, cancerígeno, tumor, tumores, tumor maligno, tumor benigno, tumor cerebral, tumoración, carcinoma, adenocarcinoma,
  carcinoma basocelular, melanoma, sarcoma, osteosarcoma, sarcoma de ewing, linfoma, linfoma de hodgkin,
  linfoma no hodgkin, leucemia, leucemia linfoblástica, leucemia mieloide, mieloma, mieloma múltiple, glioblastoma,
  glioma, astrocitoma, meningioma, neuroblastoma, retinoblastoma, nefroblastoma, hepatoblastoma, hepatocarcinoma,
  neoplasia, neoplasia maligna, tumor de wilms, metástasis, mesotelioma, timoma, seminoma, teratoma, adenoma, fibroadenoma,
  lipoma, hemangioma, angioma, neurofibromatosis, neurinoma, schwannoma, craneofaringioma, insulinoma, quiste, quistes,
  mioma, miomas, miomatosis, fibroma, pólipo, pólipos, poliposis, displasia, nic 1, nic 2, nic 3, lesión de alto grado,
  lesión de bajo grado, lesión premaligna, masa en el seno, masa en la mama, masa en el cuello, masa en el abdomen,
  masa en el ovario, nódulo en el seno, nódulo mamario, mielodisplasia, síndrome mielodisplásico, policitemia vera,
  ${ORGANS.trim()
    .split(/\s+/)
    .map((organ) => organ.replaceAll("_", " "))
    .flatMap((organ) => [`ca de ${organ}`, `ca ${organ}`, `ca en ${organ}`, `ca de la ${organ}`, `ca del ${organ}`])
    .join(", ")}`;
