import { setImmediate } from "node:timers/promises";
import { recognizers } from "./screen-text.js";

/** Milliseconds until the first run of {@link warmUpScreening}, so that the runs do not delay the service's start. */
const DELAY_MS = 1_000;
const COMPLAINT = "En la sala 12 la espera fue larga, llamé al 601 555 0100 y nadie me dijo la clave de mi turno.";

/**
 * Runs each recognizer twice on a text, one run per turn of the event loop, starting a second from now. V8 compiles a
 * pattern at its first use and again at a later use. Both compilations take tens of milliseconds. Without the warm-up,
 * the first requests with a text to screen would wait for them. Returns a function that cancels the remaining warm-up.
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
