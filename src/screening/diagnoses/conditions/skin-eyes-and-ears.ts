/** Names of conditions of the skin, eyes, ears and teeth, separated by commas. */
export const skinEyesAndEars = `
  psoriasis, soriasis, dermatitis, dermatitis atópica, eczema, eccema, rosácea, vitiligo, vitíligo, urticaria,
  alopecia, alopecia areata, acné, acné severo, hidradenitis, pénfigo, penfigoide, liquen plano, queratosis,
  queratosis actínica, esclerodermia, melasma, ictiosis, epidermólisis bullosa, úlceras por presión, úlcera por presión,
  glaucoma, catarata, cataratas, retinopatía, desprendimiento de retina, degeneración macular, queratocono, uveítis,
  conjuntivitis, blefaritis, pterigio, pterigión, estrabismo, ambliopía, miopía, astigmatismo, hipermetropía, presbicia,
  queratitis, orzuelo, chalazión, retinosis pigmentaria, ceguera, baja visión, otitis, otitis media, hipoacusia,
  sordera, sordera súbita, tinnitus, tinitus, acúfenos, laberintitis, otosclerosis, perforación del tímpano,
  perforación timpánica, caries, periodontitis, gingivitis, bruxismo, maloclusión, muelas impactadas, absceso dental,
  labio leporino, labio fisurado, paladar hendido`;
