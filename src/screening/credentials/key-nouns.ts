import { anyOf, wordStart } from "../word-patterns.js";

const KEY_NOUNS =
  anyOf(`palabras? puntos? momentos? personas? pasos? aspectos? factor factores piezas? preguntas? datos?
  fechas? horarios? horas? dias? anos? meses elementos? indicador indicadores temas? rol papel area areas procesos?
  plan planes proyectos? cargos? medicamentos? examen examenes numeros? codigos? documentos? etapas? periodos?
  en es fue son`);

/** Source of a pattern that excludes `clave` after a noun such as `palabra`. There `clave` means "important". */
export const notKeyNoun = String.raw`(?<!${wordStart}${KEY_NOUNS}\s(?=clave))`;
