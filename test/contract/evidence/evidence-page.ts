import { posix } from "node:path";
import type { ProvenDocument } from "./documents.js";

const FOLDER = "test/contract/evidence";

/** Returns the text of test/contract/evidence/README.md: the tests of each row of each document. */
export function evidencePage(documents: readonly ProvenDocument[]): string {
  return `# Evidence

For maintainers: this page lists the tests that prove each row of a document, by the id of the row. A title stands as in the
source of its test, placeholders included. \`npm run docs:evidence\` writes this page from the JSON files beside it.

${documents.map(sectionOf).join("\n")}`;
}

function sectionOf({ path, evidence }: ProvenDocument): string {
  const rows = evidence.map(({ id, tests }) => `### ${id}\n\n${tests.map(lineOf).join("")}`);
  return `## [${posix.basename(path)}](${posix.relative(FOLDER, path)})\n\n${rows.join("\n")}`;
}

function lineOf(test: string): string {
  const [file = "", title = ""] = test.split(" › ");
  return `- [${file}](${posix.relative(FOLDER, posix.join("test", file))}): \`${title}\`\n`;
}
