import { keyOf, type Word } from "./read-words.js";

/**
 * Returns whether a word is in a certain list of words. Words with the same {@link Word.key} count as equal. So a
 * misspelling that sounds the same is found too: `padesco` for `padezco`.
 */
export type IsWord = (word: Word | undefined) => boolean;

/**
 * Words that the search skips on its way from a condition back to a word such as `tengo`: `una` and `fuerte` in
 * `tengo una fuerte gastritis`.
 */
export const filler =
  oneOf(`un una unos unas el la los las lo mi mis su sus nuestro nuestra este esta ese esa de del al a
  con por para contra en y e o u ni muy mucho mucha muchos muchas algo tan mas ya tambien ademas aun todavia siempre desde
  hace hacia ano anos mes meses dia dias semana semanas edad casi dos tres varios varias otro otra nuevo nueva
  nuevamente como que es era fue problema problemas enfermedad padecimiento patologia cuadro crisis ataque ataques
  episodio episodios brote principio principios inicio inicios comienzo antecedente antecedentes historia diagnostico
  posible probable presunto presunta sospecha tipo grado estadio fuerte grave leve severo severa moderado aguda agudo cronica
  cronico avanzado avanzada maligno maligna terminal llamado llamada positivo positiva reactivo confirmado confirmada
  desafortunadamente lamentablemente gracias cierto cierta`);

/**
 * Prepositions that connect the word before them with the condition: `de` in `sufro de asma`, `por` in
 * `hospitalizada por dengue`.
 */
export const preposition = oneOf("de del por para con contra en a al sobre");

/**
 * Topics: words for services, events, documents and other things that can be about a condition. A condition after a
 * topic is usually not the condition of a person: `charla de diabetes`.
 */
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
 * Words of {@link topic} that can also say who diagnosed a person, or where or when. Between a word for a diagnosis and
 * the condition, they do not count as topics: `me diagnosticaron en la clínica lupus`.
 */
export const bystander = oneOf("medico doctor doctora especialista examen dia semana mes clinica hospital instituto");

/**
 * Words before `diagnóstico` that show that it is not the diagnosis of a person: `centro de diagnóstico`,
 * `costo del diagnóstico`. Fillers such as `de` may stand between.
 */
export const service = oneOf(`apoyo ayuda ayudas imagen imagenes imagenologia centro centros unidad unidades laboratorio
  laboratorios prueba pruebas examen examenes sala salas servicio servicios area areas equipo equipos consultorio
  consultorios oficina oficinas medio medios procedimiento procedimientos estudio estudios sede sedes metodo metodos kit
  ecografia resonancia tomografia radiologia campana jornada charla taller costo costos cultura error errores`);
/**
 * Adjectives directly before or after a word for a diagnosis. They show that it is not the diagnosis of a person:
 * `diagnóstico temprano de cáncer`, `early diagnosis`.
 */
export const early = oneOf("temprano temprana precoz oportuno oportuna diferencial early timely differential");

/**
 * Verb forms, before or after a condition, that say that somebody has or had it: `tengo asma`, `el lupus que padezco`.
 */
export const having = oneOf(`tengo tiene tienen tenia tenian tuve tuvo tuvieron tenemos tener teniendo padezco padece
  padecen padecia padecio padeci padecemos padecer padeciendo sufro sufre sufren sufria sufri sufrio sufrimos sufrir
  sufriendo presento presenta presentaba presentan`);
/**
 * Verb forms of {@link having} that may have a preposition directly after them: `sufro de asma`. The other forms do not
 * state a condition if a preposition follows them directly.
 */
export const takesPreposition =
  oneOf(`padezco padece padecen padecia padecio padeci padecemos padecer padeciendo sufro sufre sufren
  sufria sufri sufrio sufrimos sufrir sufriendo`);
/**
 * Words that count as conditions after a verb such as `sufro`, but not after `tengo`: organs (`sufro del colon`),
 * measurements (`sufro de la tensión`) and complaints (`sufro de insomnio`).
 */
export const suffered = oneOf(`azucar presion tension tiroides prostata colon colesterol trigliceridos corazon rinon
  rinones higado nervios ansiedad insomnio vertigo reflujo acidez`);
/**
 * Words before a condition that say that somebody found it, caught it or had it in a test result:
 * `me detectaron lupus`, `me contagié de covid`, `positiva para dengue`.
 */
export const finding = oneOf(`detectaron detecto detectada detectado detectan encontraron encontro encontrado encontrada
  descubrieron descubrio descubierto confirmaron confirmo confirmado confirmada confirman confirma hallaron hallado
  salio sali salieron sale salen resulto resulte arrojo muestra mostro mostraron reporta reporto evidencia evidencio
  revela revelo contagie contagio contagiaron contagiado contagiada pegaron positivo positiva positivos reactivo reactiva
  seropositivo seropositiva pronosticaron dictaminaron`);
/** Verb forms before a condition. They state it after a word of {@link pronoun}: `me dio dengue`. */
export const giving = oneOf("dio dieron dado di daba empezo comenzo");
/** Pronouns and auxiliary verbs directly before a verb: `me` in `me dio dengue`, `han` in `no han detectado dengue`. */
export const pronoun = oneOf("me le nos les te se ha han habia");

/**
 * Words that state the condition after them if a word of {@link preposition} follows them directly:
 * `hospitalizada por dengue`, `secuelas de covid`.
 */
export const caused = oneOf(`operado operada operados operaron operan operar operaran opero hospitalizado hospitalizada
  hospitalizaron hospitalice internado interno internada internaron ingreso ingrese ingresada ingresado ingresaron incapacidad
  incapacidades incapacitado incapacitada incapacitaron murio murieron muerto muerta fallecio fallecieron fallecido
  fallecida secuela secuelas antecedente antecedentes sospecha cuadro recaida complicacion complicaciones enfermo enferma
  enferme enfermaron convaleciente recuperandome recuperandose recuperado recuperada recupero tratado tratada tratan
  tratando contagie contagio contagiado contagiada contagiaron infectado infectada infectaron portador portadora
  sobreviviente afectado afectada remitido remitida remitieron debido causa culpa urgencias consulte atendieron atendido
  atendida intervenido intervenida pensionado pensionada discapacitado discapacitada valoracion`);
/** Words directly before a condition, like the label of a field in a form: `antecedentes: diabetes`. */
export const entry = oneOf(`antecedente antecedentes patologia patologias comorbilidad comorbilidades condicion
  enfermedades padecimientos`);
/** Words for medical documents, directly before a verb of {@link saying}: `biopsia` in `la biopsia dice cáncer`. */
export const paper = oneOf(`orden historia formula incapacidad resultado resultados examen ecografia biopsia remision
  tac resonancia radiografia informe reporte epicrisis certificado papel hoja lectura`);
/** Verb forms between a word for a medical document and the condition: `dice` in `la biopsia dice cáncer`. */
export const saying = oneOf("dice dicen decia pone salio sale reporta muestra");
/**
 * Words for treatments. They state the condition after them if a word of {@link ownTreatment} stands directly before
 * them: `en tratamiento de artritis`.
 */
export const treatment = oneOf("tratamiento tratamientos quimioterapia quimio radioterapia terapia medicado medicada");
/**
 * Words directly before a word of {@link treatment} that show that a person receives the treatment: `en tratamiento`,
 * `mi tratamiento`.
 */
export const ownTreatment = oneOf("en mi mis su sus estoy esta recibo recibe sigo llevo lleva hago hace inicie");

/**
 * Verbs and participles that, followed by `con` and the name of an illness, say that somebody has it:
 * `estoy con dengue`, `vivo con lupus`.
 */
export const being = oneOf(`estoy esta estaba estuve estuvo estamos ando anda sigo sigue quede quedo nacio naci amanecio
  amaneci vivo vive convivo convive lucho lucha luchando vengo llego llegue llevo lleva curso cursa cursando diagnosticado
  sali salio viviendo estando`);
/**
 * Words for one person. They stand before `con` and a condition (`mi hermana con lupus`), or before a word for a person
 * with a condition (`mi papá hipertenso`).
 */
export const person = oneOf(`paciente persona senor senora nino nina hijo hija bebe mama mami madre papa papi padre
  abuelo abuela abuelito abuelita esposo esposa marido mujer hermano hermana tio tia primo prima sobrino sobrina suegro
  suegra nieto nieta novio novia companero companera pareja muchacho muchacha joven adulto adulta usuario usuaria menor
  cunado cunada amigo amiga vecino vecina bisabuelo bisabuela hijito hijita mamita papito viejito viejita anciano anciana
  familiar hombre trabajador trabajadora pte pcte px pac pct`);
/**
 * The words of {@link person} that mean "patient", including physicians' abbreviations. After such a word, a condition
 * needs no `con`: `pte asma` means `paciente con asma`.
 */
export const patient = oneOf("paciente pte pcte px pac pct");
/**
 * Words that the search skips on its way back to a word for a person, mostly words about age: `de` and `años` in
 * `paciente de 45 años con lupus`.
 */
export const age = oneOf("de ano anos mes meses edad mayor menor adulto adulta diagnosticado un una el la cotizante");

/**
 * Words, mostly verb forms, that stand before a noun such as `diabético`. They show that the noun means one particular
 * person: `soy` in `soy diabético`.
 */
export const self = oneOf("soy es era fui fue siendo como estoy volvi volvio quedo quede naci nacio eres");
/**
 * Verb forms that stand before a noun such as `diabéticos`. They show that the noun means particular people: `somos` in
 * `somos diabéticos`.
 */
export const selves = oneOf("somos son eramos eran siendo");

/**
 * Words for people in general, directly before a verb. The verb then says nothing about a particular person:
 * `quien tiene asma`.
 */
export const anyone = oneOf("quien quienes uno alguien alguno");
/** Words for people in general before `que` and a verb: `los` in `los que tienen asma`. */
export const anyones = oneOf("los las el gente personas pacientes persona todos aquellos");
/**
 * Words that deny the word after them: `no tengo asma`, `descartaron sospecha de asma`. Up to three pronouns and
 * auxiliary verbs may stand between: `nunca me ha dado dengue`.
 */
export const not = oneOf(
  "no ni nunca jamas sin tampoco descartaron descarto descartan descarta descartar descartado descartada",
);

/**
 * Words that announce a condition if `es`, `era`, `fue`, `son` or `que` stands between them and the condition:
 * `me dijeron que es lupus`, `lo mío es asma`.
 */
export const telling = oneOf(`dijo dijeron dice dicen mio mia tengo tiene padezco padece sufro sufre enfermedad
  padecimiento resultado resultados biopsia problema concluyo concluyeron segun informo informaron explico explicaron
  llama`);

/**
 * Words that the search skips on its way from a condition forward to a word such as `diagnóstico` or `tengo`: `es` and
 * `mi` in `lupus es mi diagnóstico`.
 */
export const backLink = oneOf(`que yo me le nos les se es fue era como segun el la mi su ha han habian habia sido
  cronico cronica severo severa tipo de del arterial mellitus grave avanzado avanzada mama hijo hija`);

/**
 * Returns whether a word is a word for a diagnosis. It begins with `diagnos`, as `diagnóstico` and `diagnosed` do, or
 * is an abbreviation such as `dx`.
 */
export function diagnosis(word: Word | undefined): boolean {
  return word !== undefined && /^(?:diagnos[a-z]{1,12}|i?dxs?|diagn?)$/.test(word.text);
}

/**
 * Words directly before the number of a place, a document or another thing: `consultorio A20`. A number after such a
 * word does not count as an ICD-10 code.
 */
export const numbered = oneOf(`consultorio consultorios sala salas piso torre oficina turno turnos ficha habitacion cama
  camilla puerta modulo ventanilla bloque ruta bus silla cubiculo parada formulario formato placa zona sotano nivel aula
  salida caja apartamento apto casa interior edificio lote referencia radicado vitamina la el`);

/** Returns a function that tests whether a word is in the list `words`. White space separates the words of the list. */
export function oneOf(words: string): IsWord {
  const keys = new Set(words.split(/\s+/).map(keyOf));
  return (word) => word !== undefined && keys.has(word.key);
}
