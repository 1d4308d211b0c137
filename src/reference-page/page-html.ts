import type { JsonObject } from "@bufbuild/protobuf";
import { type ApiDocument, apiDocument } from "./api-document.js";
import { type Html, html } from "./html.js";
import { type Chapter, chapters, markdown } from "./markdown.js";
import { methodHtml, operationHtml } from "./operation-html.js";
import { schemasHtml } from "./schema-html.js";
import { type ShownOperation, shownOperations } from "./shown-operations.js";

/** Options of {@link pageHtml}. */
export interface PageOptions {
  /** The path of the JSON OpenAPI document on the same listener. */
  readonly documentPath: string;
  /** The path that returns a demo token. Undefined when the user must paste a token. */
  readonly tokenPath: string | undefined;
  /**
   * Rules that every caller must know, as CommonMark. The page adds them to the document's description, unless the
   * description contains them.
   */
  readonly introduction: string;
}

/** A service with its operations. */
interface Group {
  readonly name: string;
  readonly description: string | undefined;
  readonly operations: readonly ShownOperation[];
}

/**
 * Returns the HTML of the reference page of an OpenAPI document. Texts, schemas and samples are in the HTML, so the
 * page is readable without scripts. Scripts and styles are files.
 */
export function pageHtml(
  document: JsonObject,
  { documentPath, tokenPath, introduction: general }: PageOptions,
): string {
  const api = apiDocument(document);
  const { title, version, description = "" } = api.info;
  const introduction = chapters(description.includes(general) ? description : `${description}\n\n${general}`);
  const groups = groupsOf(api);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/page.js" type="module"></script>
</head>
<body data-language="curl"${tokenPath !== undefined && html` data-token-path="${tokenPath}"`}>
<a class="skip" href="#content">Skip to the content</a>
${headerHtml(title)}
${navigationHtml(groups, introduction.titles)}
<main id="content" tabindex="-1">
<section id="introduction"><h1>${title}</h1>
<p>Version ${version}. The OpenAPI document: <a href="${documentPath}">JSON</a>, <a href="${documentPath.replace(/json$/, "yaml")}">YAML</a>.</p>
${introduction.body}</section>
${groups.map((group) => groupHtml(api, group))}
${schemasHtml(api)}
</main>
</body>
</html>
`;
  return page.text;
}

function headerHtml(title: string): Html {
  return html`<header>
<button id="menu" type="button" aria-expanded="false" aria-controls="navigation">Menu</button>
<strong>${title}</strong>
<form id="access">
<label for="access-token">Access token</label>
<input id="access-token" type="password" autocomplete="off" placeholder="Paste a token">
<button id="demo-token" type="button" hidden>Get a demo token</button>
<output id="access-status"></output>
</form>
<button id="theme" type="button">Dark</button>
</header>`;
}

function navigationHtml(groups: readonly Group[], titles: readonly Chapter[]): Html {
  return html`<nav id="navigation" aria-label="Operations">
<label for="search">Search</label>
<input id="search" type="search" placeholder="Name, path or service" autocomplete="off">
<p id="found" role="status"></p>
<ul><li><a href="#introduction">Introduction</a></li>${titles.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${groups.map(
  ({ name, operations }) => html`<section><h2><a href="#${name}">${name}</a></h2><ul>${operations.map(
    ({ id, method, url, operation }) =>
      html`<li data-words="${`${name} ${id} ${operation.summary} ${method} ${url} ${operation["x-connect"] ?? ""}`.toLowerCase()}"><a href="#${id}">${methodHtml(method)} ${operation.summary}</a></li>
`,
  )}</ul></section>
`,
)}<ul><li><a href="#schemas">Schemas</a></li></ul>
</nav>`;
}

function groupHtml(api: ApiDocument, { name, description, operations }: Group): Html {
  return html`<section class="service" id="${name}"><h2>${name}</h2>${description !== undefined && markdown(description)}
${operations.map((shown) => operationHtml(api, shown))}</section>
`;
}

function groupsOf(api: ApiDocument): Group[] {
  const operations = shownOperations(api);
  const descriptions = new Map((api.tags ?? []).map(({ name, description }) => [name, description]));
  return [...new Set(operations.map(({ tag }) => tag))].map((name) => ({
    name,
    description: descriptions.get(name),
    operations: operations.filter(({ tag }) => tag === name),
  }));
}
