import { setImmediate } from "node:timers/promises";
import { recognizers } from "./screen-text.js";

/**
 * The time in milliseconds before the first run of {@link warmUpScreening}, so that the runs do not delay the start of
 * the service.
 */
const DELAY_MS = 1_000;
const COMPLAINT = "En la sala 12 la espera fue larga, llamé al 601 555 0100 y nadie me dijo la clave de mi turno.";

/**
 * Runs each recognizer twice on an example text, so that V8 compiles its patterns before the first request needs them.
 * V8 compiles a pattern at its first use and again at a later use, which takes tens of milliseconds each time. Returns
 * a function that cancels the remaining runs.
 */
export function warmUpScreening(all: typeof recognizers = recognizers): () => void {
  let isOver = false;
  const screen = async () => {
    for (const [, finds] of [...all, ...all]) {
      await setImmediate();
      if (isOver) return;
      finds(COMPLAINT);
    }
  };
  const timer = setTimeout(() => void screen(), DELAY_MS).unref();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
