/** Names of conditions of the heart and the blood vessels, separated by commas. */
export const heartAndVessels = `
  hipertensión, hipertensión arterial, presión alta, tensión alta, presión arterial alta, tensión arterial alta,
  hipotensión, presión baja, tensión baja, infarto, infarto de miocardio, preinfarto, angina de pecho, arritmia,
  arritmia cardiaca, fibrilación auricular, fibrilación, flutter auricular, taquicardia, bradicardia, extrasístoles,
  bloqueo auriculoventricular, bloqueo av, bloqueo de rama, insuficiencia cardiaca, falla cardiaca,
  insuficiencia coronaria, enfermedad coronaria, cardiopatía, cardiomiopatía, miocardiopatía, miocarditis,
  pericarditis, endocarditis, soplo cardiaco, soplo en el corazón, prolapso de la válvula mitral, prolapso mitral,
  estenosis aórtica, estenosis mitral, insuficiencia mitral, insuficiencia aórtica, insuficiencia tricúspidea,
  comunicación interauricular, comunicación interventricular, tetralogía de fallot, cardiomegalia, corazón grande,
  aneurisma, disección aórtica, ateroesclerosis, aterosclerosis, arteriosclerosis, trombosis, trombosis venosa,
  tromboembolismo, tromboflebitis, flebitis, embolia, embolia pulmonar, várices, venas várices, insuficiencia venosa,
  insuficiencia arterial, úlcera varicosa, úlceras varicosas, isquemia, cardiopatía isquémica, accidente cerebrovascular,
  accidente cerebro vascular, derrame, derrame cerebral, ictus, isquemia cerebral, hemorragia cerebral,
  hemorragia subaracnoidea, trombosis cerebral, hipertensión pulmonar, enfermedad del corazón, enfermedad cardiaca,
  enfermedad cardiovascular, enfermedad de chagas cardiaca, marcapasos por bloqueo, enfermedad arterial,
  enfermedad vascular, enfermedad cerebrovascular, vasculitis, fenómeno de raynaud, raynaud`;
