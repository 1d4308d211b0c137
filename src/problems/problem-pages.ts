import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type ErrorCode, errorTable, type FieldErrorCode } from "../errors.js";
import { isPublished } from "../operation.js";
import { pageResource, readOnce } from "../pages/page.js";
import type { Resources } from "../pages/serve-resources.js";
import type { CodeEntry } from "./code-entry.js";
import { fieldCodes } from "./field-codes.js";
import { codesOf } from "./operation-codes.js";
import { problemCodes } from "./problem-codes.js";

/** All services. The pages name each published operation, and call all others "operations of the clinic's API". */
type Services = readonly { readonly service: DescService }[];

const HEADERS = { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'" };

const INDEX = "/problems";

/**
 * Returns the page `/problems`, which lists the problem types, and a page `/problems/<slug>` for each type. The `type`
 * of a Problem is the URL of its page (RFC 9457, section 3.1.1). A page is created at its first request.
 */
export function problemPages(services: Services): Resources {
  const page = (render: () => string) =>
    pageResource({
      contentType: "text/html; charset=utf-8",
      headers: HEADERS,
      content: readOnce(async () => render()),
    });
  const problems = Object.entries(errorTable).map(
    ([code, { slug }]) => [`${INDEX}/${slug}`, page(() => renderProblem(code as ErrorCode, services))] as const,
  );
  return [[INDEX, page(renderIndex)], ...problems];
}

function renderIndex(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, slug, title }]) =>
      `<dt>${status} <a href="problems/${slug}">${title}</a></dt><dd><code>${code}</code>. ${problemCodes[code as ErrorCode].meaning}</dd>`,
  );
  return renderPage("Problem types", "problems", `<dl>\n  ${rows.join("\n  ")}\n</dl>`);
}

function renderProblem(code: ErrorCode, services: Services): string {
  const { status, title, slug } = errorTable[code];
  const about = `<dl>
  <dt>HTTP status</dt><dd>${status}</dd>
  <dt>Code</dt><dd><code>${code}</code></dd>
  ${renderEntry(problemCodes[code])}
</dl>`;
  return renderPage(title, slug, [about, ...renderFieldCodes(code, services)].join("\n"));
}

function renderFieldCodes(problem: ErrorCode, services: Services): string[] {
  const methods = services.flatMap(({ service }) => service.methods);
  const answered = (Object.keys(fieldCodes) as FieldErrorCode[]).flatMap((code) => {
    const answering = methods.filter((method) => codesOf(method)[problem]?.includes(code));
    return answering.length === 0 ? [] : [renderFieldCode(code, namesOf(answering, methods))];
  });
  return answered.length === 0 ? [] : ["<h2>Codes in errors</h2>", ...answered];
}

function namesOf(answering: readonly DescMethod[], all: readonly DescMethod[]): string {
  if (answering.length === all.length) return "Every operation";
  const published = answering.filter(({ parent }) => isPublished(parent)).map(({ name }) => name);
  const isAlsoInternal = published.length < answering.length;
  return [...published, ...(isAlsoInternal ? ["operations of the clinic's API"] : [])].join(", ");
}

function renderFieldCode(code: FieldErrorCode, operations: string): string {
  return `<h3 id="${code}"><code>${code}</code></h3>
<dl>
  ${renderEntry(fieldCodes[code])}
  <dt>Operations</dt><dd>${operations}</dd>
</dl>`;
}

function renderEntry({ meaning, cause, remedy }: CodeEntry): string {
  return `<dt>What it means</dt><dd>${textOf(meaning)}</dd>
  <dt>What causes it</dt><dd>${textOf(cause)}</dd>
  <dt>What to do</dt><dd>${textOf(remedy)}</dd>`;
}

/** Converts the code spans of Markdown (`…`) to HTML. */
function textOf(sentences: string): string {
  return sentences.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function renderPage(title: string, slug: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} (${slug})</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
  dt { font-weight: 600 } dd { margin: 0 0 1rem }
</style>
<h1>${title}</h1>
${content}
</html>
`;
}
