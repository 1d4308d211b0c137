import { anyOf, wordStart } from "../word-patterns.js";

const KEY_NOUNS =
  anyOf(`palabras? puntos? momentos? personas? pasos? aspectos? factor factores piezas? preguntas? datos?
  fechas? horarios? horas? dias? anos? meses elementos? indicador indicadores temas? rol papel area areas procesos?
  plan planes proyectos? cargos? medicamentos? examen examenes numeros? codigos? documentos? etapas? periodos?
  en es fue son`);

/**
 * Source of a pattern that stands before a name of a secret. It excludes `clave` directly after a word such as `punto`
 * or `es`, because there `clave` means "important": `un punto clave`.
 */
export const notKeyNoun = String.raw`(?<!${wordStart}${KEY_NOUNS}\s(?=clave))`;
