/** Names of mental and developmental conditions, separated by commas. */
export const mind = `
  depresión, depresión mayor, depresión posparto, trastorno, trastorno depresivo, trastorno bipolar, bipolaridad,
  trastorno de ansiedad, trastorno mixto, ansiedad generalizada, ansiedad y depresión, crisis de ansiedad,
  ataques de ansiedad, ataques de pánico, ataque de pánico, trastorno de pánico, crisis de pánico, agorafobia,
  fobia social, esquizofrenia, psicosis, trastorno psicótico, trastorno esquizoafectivo, trastorno límite,
  personalidad límite, trastorno obsesivo compulsivo, trastorno de estrés postraumático, estrés postraumático,
  autismo, espectro autista, trastorno del espectro autista, asperger, síndrome de asperger,
  déficit de atención, hiperactividad, trastorno por déficit de atención, dislexia, discapacidad intelectual,
  retraso mental, retardo mental, retraso en el desarrollo, retraso global del desarrollo, retraso del lenguaje,
  trastorno del lenguaje, síndrome de tourette, tourette, demencia, demencia senil, alzheimer, alzhaimer, alsaimer,
  mal de alzheimer, alcoholismo, drogadicción, farmacodependencia, adicción, adicción a las drogas, ludopatía,
  insomnio crónico, anorexia nerviosa, bulimia nerviosa, trastorno alimenticio, trastorno de la conducta alimentaria,
  trastorno de personalidad, delirio, alucinaciones, esquizoide, distimia, ciclotimia, intento de suicidio,
  ideación suicida, enfermedad mental, burnout, síndrome de burnout, disforia de género`;
