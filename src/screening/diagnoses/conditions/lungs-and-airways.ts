/** Names of conditions of the lungs and airways, separated by commas. */
export const lungsAndAirways = `
  asma, asma bronquial, bronquitis, bronquiolitis, bronquiectasias, neumonía, bronconeumonía, neumonitis,
  neumotórax, enfisema, enfermedad pulmonar obstructiva crónica, enfermedad pulmonar, fibrosis pulmonar,
  derrame pleural, edema pulmonar, tromboembolismo pulmonar, insuficiencia respiratoria, falla respiratoria,
  infección respiratoria, apnea, apnea del sueño, rinitis, rinitis alérgica, sinusitis, rinosinusitis, faringitis,
  faringoamigdalitis, amigdalitis, laringitis, laringotraqueítis, traqueítis, adenoides, hipertrofia de adenoides,
  hipertrofia de cornetes, pólipos nasales, tabique desviado, desviación del tabique, tosferina, tos ferina, crup,
  silicosis, neumoconiosis, sarcoidosis, nódulo pulmonar, mancha en el pulmón, agua en los pulmones, bronquios inflamados,
  parálisis de cuerdas vocales, nódulos en las cuerdas vocales, enfermedad intersticial`;
