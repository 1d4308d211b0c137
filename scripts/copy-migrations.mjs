/** Puts the SQL files, which the compiler leaves where they are, beside the compiled code that reads them. */
import { cpSync } from "node:fs";

cpSync("src/postgres/migrations", "dist/postgres/migrations", { recursive: true });
