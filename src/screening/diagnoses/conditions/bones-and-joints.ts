const BONES = `cadera femur tibia perone tobillo rodilla muneca mano dedo brazo hombro clavicula humero radio cubito codo
  pie pierna columna vertebra vertebral costilla costillas craneo nariz mandibula pelvis rotula mano escafoides`;

/** Names of conditions of the bones, joints, muscles and back, separated by commas. */
export const bonesAndJoints = `
  artritis, artritis reumatoide, artritis reumatoidea, artritis psoriásica, artritis juvenil, artrosis, osteoartritis,
  osteoartrosis, gonartrosis, coxartrosis, osteoporosis, osteopenia, osteonecrosis, osteogénesis imperfecta,
  fibromialgia, espondilitis, espondilitis anquilosante, espondiloartritis, espondilosis, espondilolistesis,
  escoliosis, lordosis, cifosis, hernia discal, hernias discales, hernia de disco, hernia lumbar, hernia cervical,
  discopatía, discopatía degenerativa, protrusión discal, abombamiento discal, estenosis espinal, canal estrecho,
  lumbago, lumbalgia, lumbalgia crónica, ciatalgia, esguince, luxación, lumbociática, cervicalgia, dorsalgia, bursitis, tendinitis, tendinosis, tenosinovitis,
  epicondilitis, manguito rotador, síndrome de manguito rotador, capsulitis, hombro congelado, condromalacia,
  meniscopatía, ruptura de menisco, lesión de menisco, ruptura de ligamento, ruptura de ligamentos,
  lesión de ligamento, ligamento cruzado, ligamento roto, menisco roto, espolón calcáneo, fascitis plantar, juanetes,
  hallux valgus, pie plano, pie equino varo, displasia de cadera, luxación de cadera, desgaste de cadera,
  desgaste de rodilla, desgaste en la rodilla, dedo en gatillo, enfermedad de paget, miositis, dermatomiositis,
  polimiositis, polimialgia reumática, reumatismo, enfermedad reumatológica, sinovitis, quiste de baker, ganglión,
  ${BONES.trim()
    .split(/\s+/)
    .flatMap((bone) => ["de", "de la", "del", "en la", "en el", "en"].map((joint) => `fractura ${joint} ${bone}`))
    .join(", ")}`;
