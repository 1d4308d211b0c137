/** Names of conditions of women, pregnancy and newborns, separated by commas. Pregnancy itself is not one of them. */
export const womenAndBirth = `
  endometriosis, adenomiosis, ovario poliquístico, ovarios poliquísticos, síndrome de ovario poliquístico,
  quiste en el ovario, quistes en los ovarios, hiperplasia endometrial, pólipo endometrial, cervicitis, vaginitis,
  enfermedad pélvica inflamatoria, hemorragia uterina, sangrado uterino anormal, menopausia precoz, prolapso uterino,
  prolapso genital, cistocele, rectocele, preeclampsia, eclampsia, síndrome de hellp, placenta previa, desprendimiento
  de placenta, amenaza de aborto, amenaza de parto prematuro, aborto, aborto espontáneo, aborto retenido,
  embarazo ectópico, embarazo de alto riesgo, mola hidatiforme, colestasis, corioamnionitis, restricción del crecimiento,
  mastitis, mastopatía, mastopatía fibroquística, mamas fibroquísticas, senos fibroquísticos, infertilidad,
  prematuridad, ictericia neonatal, asfixia perinatal, hipoxia perinatal, cardiopatía congénita,
  malformación congénita, gastrosquisis, atresia esofágica, atresia intestinal, estenosis pilórica, criptorquidia,
  enfermedad de hirschsprung, hernia diafragmática, microtia, labio y paladar hendido`;
