/** The content of a reference page. */
export interface PageOptions {
  readonly title: string;
  /** The path of the JSON OpenAPI document on the same listener. */
  readonly documentPath: string;
  /** The path that returns a demo token. Undefined when the user must paste a token. */
  readonly tokenPath: string | undefined;
}

/** Returns the HTML of a reference page. Its scripts and styles are files. Its attributes contain their settings. */
export function pageHtml({ title, documentPath, tokenPath }: PageOptions): string {
  const token = tokenPath === undefined ? "" : ` data-token-path="${escaped(tokenPath)}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/swagger-ui.js" defer></script>
<script src="/docs/page.js" type="module"></script>
</head>
<body data-document-path="${escaped(documentPath)}"${token}>
<form id="access">
<strong>${escaped(title)}</strong>
<label for="access-token">Access token</label>
<input id="access-token" type="password" autocomplete="off" placeholder="Paste a token to try out operations">
<button id="demo-token" type="button" hidden>Get a demo token</button>
<output id="access-status"></output>
</form>
<main id="reference"><noscript>This page needs JavaScript. Without it, read <a href="${escaped(documentPath)}">the OpenAPI document</a>.</noscript></main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
