/** Copies SQL files and browser files, which the compiler ignores, next to the compiled code that reads them. */
import { cpSync } from "node:fs";

for (const folder of ["postgres/migrations", "reference-page/browser"]) {
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true, filter: (path) => !/\.json$|\.d\.ts$/.test(path) });
}
