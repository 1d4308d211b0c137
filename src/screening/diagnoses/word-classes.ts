import { keyOf, type Word } from "./read-words.js";

/** Whether a word is in a list. Words are compared by their sound, so that spelling errors do not matter. */
export type IsWord = (word: Word | undefined) => boolean;

/** Words that may stand between the name of a condition and a Spanish word that states it: `tengo una …`. */
export const filler =
  oneOf(`un una unos unas el la los las lo mi mis su sus nuestro nuestra este esta ese esa de del al a
  con por para contra en y e o u ni muy mucho mucha muchos muchas algo tan mas ya tambien ademas aun todavia siempre desde
  hace hacia ano anos mes meses dia dias semana semanas edad casi dos tres varios varias otro otra nuevo nueva
  nuevamente como que es era fue problema problemas enfermedad padecimiento patologia cuadro crisis ataque ataques
  episodio episodios brote principio principios inicio inicios comienzo antecedente antecedentes historia diagnostico
  posible probable presunto presunta sospecha tipo grado estadio fuerte grave leve severo severa moderado aguda agudo cronica
  cronico avanzado avanzada maligno maligna terminal llamado llamada positivo positiva reactivo confirmado confirmada
  desafortunadamente lamentablemente gracias cierto cierta`);

/** Prepositions that connect a state with its cause. */
export const preposition = oneOf("de del por para con contra en a al sobre");

/** Services, topics and things. A condition after such a word is not a person's condition: `charla de diabetes`. */
export const topic =
  oneOf(`charla charlas taller talleres afiche afiches aviso cartel carteles cartelera volante volantes
  folleto folletos plegable programa programas curso cursos conferencia conferencias congreso video videos jornada
  jornadas brigada brigadas campana campanas dia semana mes tema temas informacion prueba pruebas examen examenes test
  tamizaje tamizajes deteccion prevencion promocion vacuna vacunas vacunacion dosis unidad clinica centro
  instituto liga fundacion asociacion grupo grupos club ruta rutas feria boletin articulo guia guias protocolo protocolos
  especialista especialistas medico medicos doctor doctora servicio servicios sala salas pabellon piso consultorio
  laboratorio kit control controles consulta consultas cita citas menu dieta dietas linea oficina estadistica
  estadisticas riesgo riesgos factor factores investigacion estudio estudios encuesta formulario hospital carrera
  caminata lazo educacion capacitacion sensibilizacion comite seguro poliza medicamento medicamentos droga drogas
  pastilla pastillas formula insumos casos brote alerta temporada epidemia pandemia protesta noticia propaganda
  publicidad lucha mitos preguntas cancion pelicula libro revista area agenda cupo cupos terapia terapias orden ordenes
  autorizacion muestra muestras apoyo manejo`);

/**
 * Words of {@link topic} that can also name the person, time or place of a finding: `me diagnosticaron en la clínica`.
 */
export const bystander = oneOf("medico doctor doctora especialista examen dia semana mes clinica hospital instituto");

/** Words that make a following `diagnóstico` mean a place, a service or a method: `centro de diagnóstico`. */
export const service = oneOf(`apoyo ayuda ayudas imagen imagenes imagenologia centro centros unidad unidades laboratorio
  laboratorios prueba pruebas examen examenes sala salas servicio servicios area areas equipo equipos consultorio
  consultorios oficina oficinas medio medios procedimiento procedimientos estudio estudios sede sedes metodo metodos kit
  ecografia resonancia tomografia radiologia campana jornada charla taller costo costos cultura error errores`);
/** Adjectives that make a diagnosis an aim and not a finding: `diagnóstico temprano`, `early diagnosis`. */
export const early = oneOf("temprano temprana precoz oportuno oportuna diferencial early timely differential");

/** Verbs that say that somebody has or suffers from a condition. */
export const having = oneOf(`tengo tiene tienen tenia tenian tuve tuvo tuvieron tenemos tener teniendo padezco padece
  padecen padecia padecio padeci padecemos padecer padeciendo sufro sufre sufren sufria sufri sufrio sufrimos sufrir
  sufriendo presento presenta presentaba presentan`);
/** Verbs that take `de` before the condition. */
export const takesPreposition =
  oneOf(`padezco padece padecen padecia padecio padeci padecemos padecer padeciendo sufro sufre sufren
  sufria sufri sufrio sufrimos sufrir sufriendo`);
/**
 * Words that mean a condition after `sufro de`: organs (`colon`), measures (`tensión`) and complaints (`insomnio`).
 */
export const suffered = oneOf(`azucar presion tension tiroides prostata colon colesterol trigliceridos corazon rinon
  rinones higado nervios ansiedad insomnio vertigo reflujo acidez`);
/** Verbs and participles that say that somebody or something found a condition. */
export const finding = oneOf(`detectaron detecto detectada detectado detectan encontraron encontro encontrado encontrada
  descubrieron descubrio descubierto confirmaron confirmo confirmado confirmada confirman confirma hallaron hallado
  salio sali salieron sale salen resulto resulte arrojo muestra mostro mostraron reporta reporto evidencia evidencio
  revela revelo contagie contagio contagiaron contagiado contagiada pegaron positivo positiva positivos reactivo reactiva
  seropositivo seropositiva descartaron pronosticaron dictaminaron`);
/** Verbs for the onset of a condition, after a pronoun: `me dio`. */
export const giving = oneOf("dio dieron dado di daba empezo comenzo");
/** Pronouns and auxiliaries that may stand between a denial and its verb, or before a verb of {@link giving}. */
export const pronoun = oneOf("me le nos les te se ha han habia");

/** Actions and states. A preposition after such a word introduces the cause: `hospitalizada por`, `secuelas de`. */
export const caused = oneOf(`operado operada operados operaron operan operar operaran opero hospitalizado hospitalizada
  hospitalizaron hospitalice internado interno internada internaron ingreso ingrese ingresada ingresado ingresaron incapacidad
  incapacidades incapacitado incapacitada incapacitaron murio murieron muerto muerta fallecio fallecieron fallecido
  fallecida secuela secuelas antecedente antecedentes sospecha cuadro recaida complicacion complicaciones enfermo enferma
  enferme enfermaron convaleciente recuperandome recuperandose recuperado recuperada recupero tratado tratada tratan
  tratando contagie contagio contagiado contagiada contagiaron infectado infectada infectaron portador portadora
  sobreviviente afectado afectada remitido remitida remitieron debido causa culpa urgencias consulte atendieron atendido
  atendida intervenido intervenida pensionado pensionada discapacitado discapacitada valoracion`);
/** Words that label a condition in a form, directly before it: `antecedentes: …`. */
export const entry = oneOf(`antecedente antecedentes patologia patologias comorbilidad comorbilidades condicion
  enfermedades padecimientos`);
/** Medical documents that can state a condition. */
export const paper = oneOf(`orden historia formula incapacidad resultado resultados examen ecografia biopsia remision
  tac resonancia radiografia informe reporte epicrisis certificado papel hoja lectura`);
/** Verbs with which a medical document states a condition: `el examen muestra …`. */
export const saying = oneOf("dice dicen decia pone salio sale reporta muestra");
/** Treatments. They count as a person's own only directly after a word of {@link ownTreatment}. */
export const treatment = oneOf("tratamiento tratamientos quimioterapia quimio radioterapia terapia medicado medicada");
/** Words that make a treatment a person's own: `en tratamiento`. */
export const ownTreatment = oneOf("en mi mis su sus estoy esta recibo recibe sigo llevo lleva hago hace inicie");

/** Words for a state, followed by `con` and the condition: `estoy con …`. */
export const being = oneOf(`estoy esta estaba estuve estuvo estamos ando anda sigo sigue quede quedo nacio naci amanecio
  amaneci vivo vive convivo convive lucho lucha luchando vengo llego llegue llevo lleva curso cursa cursando diagnosticado
  sali salio viviendo estando`);
/** Words for one person. */
export const person = oneOf(`paciente persona senor senora nino nina hijo hija bebe mama mami madre papa papi padre
  abuelo abuela abuelito abuelita esposo esposa marido mujer hermano hermana tio tia primo prima sobrino sobrina suegro
  suegra nieto nieta novio novia companero companera pareja muchacho muchacha joven adulto adulta usuario usuaria menor
  cunado cunada amigo amiga vecino vecina bisabuelo bisabuela hijito hijita mamita papito viejito viejita anciano anciana
  familiar hombre trabajador trabajadora pte pcte px pac pct`);
/** Words for a patient in physicians' reports. The condition can follow such a word directly. */
export const patient = oneOf("paciente pte pcte px pac pct");
/**
 * Words, mostly about age, that may stand between a person and the rest of the statement: `paciente de 45 años con …`.
 */
export const age = oneOf("de ano anos mes meses edad mayor menor adulto adulta diagnosticado un una el la cotizante");

/** Verbs (and `como`) before a word that describes one person: `soy diabético`. */
export const self = oneOf("soy es era fui fue siendo como estoy volvi volvio quedo quede naci nacio eres");
/** Verbs before a word that describes several people: `son diabéticos`. */
export const selves = oneOf("somos son eramos eran siendo");

/** Words for people in general: `quien tiene …`. */
export const anyone = oneOf("quien quienes uno alguien alguno");
/** Words that mean people in general before `que`: `los que`. */
export const anyones = oneOf("los las el gente personas pacientes persona todos aquellos");
/** Words that deny a statement. */
export const not = oneOf("no ni nunca jamas sin tampoco");

/** Words that announce a condition: `me dijeron que es …`, `lo mío es …`. */
export const telling = oneOf(`dijo dijeron dice dicen mio mia tengo tiene padezco padece sufro sufre enfermedad
  padecimiento resultado resultados biopsia problema concluyo concluyeron segun informo informaron explico explicaron
  llama`);

/** Words that may stand between a condition and a later word for a diagnosis: `migraña crónica es mi diagnóstico`. */
export const backLink = oneOf(`que me le nos les se es fue era como segun el la mi su ha han habian habia sido
  cronico cronica severo severa tipo de del arterial mellitus grave avanzado avanzada mama hijo hija`);

/** Whether a word means a diagnosis, such as `dx` or `diagnosticaron`. */
export function diagnosis(word: Word | undefined): boolean {
  return word !== undefined && /^(?:diagnos[a-z]{1,12}|i?dxs?|diagn?)$/.test(word.text);
}

/** Words before numbers of places, documents and other things, which can look like ICD-10 codes: `consultorio A20`. */
export const numbered = oneOf(`consultorio consultorios sala salas piso torre oficina turno turnos ficha habitacion cama
  camilla puerta modulo ventanilla bloque ruta bus silla cubiculo parada formulario formato placa zona sotano nivel aula
  salida caja apartamento apto casa interior edificio lote referencia radicado vitamina la el`);

/** Returns a function that tests whether a word sounds like one of `words`, a list separated by spaces. */
export function oneOf(words: string): IsWord {
  const keys = new Set(words.split(/\s+/).map(keyOf));
  return (word) => word !== undefined && keys.has(word.key);
}
