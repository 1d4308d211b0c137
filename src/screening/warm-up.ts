import { setImmediate } from "node:timers/promises";
import { recognizers } from "./screen-text.js";

/** Behind the start, when the first requests have been answered. */
const DELAY_MS = 1_000;
const COMPLAINT = "En la sala 12 la espera fue larga, llamé al 601 555 0100 y nadie me dijo la clave de mi turno.";

/**
 * Screens a text a second from now, one recognizer in a turn of the event loop, and twice: V8 compiles a pattern when it is first
 * used, and once more when it is used again, in tens of milliseconds that the first requests would otherwise wait for. Gives
 * the way to leave undone what is not done yet.
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
