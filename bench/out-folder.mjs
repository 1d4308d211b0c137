/** The folder of --out=FOLDER among the program's arguments, undefined where there is none. */
export function outFolder() {
  return process.argv.find((argument) => argument.startsWith("--out="))?.slice("--out=".length);
}
