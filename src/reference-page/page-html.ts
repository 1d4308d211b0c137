/** What a reference page shows. */
export interface PageTerms {
  readonly title: string;
  /** The path of the OpenAPI document, as JSON, on the same listener. */
  readonly documentPath: string;
  /** Where the page gets a token by one click; undefined where it can only ask for one. */
  readonly tokenPath: string | undefined;
}

/** The document of a reference page. Its scripts and styles are files; what they need to know is in attributes. */
export function pageHtml({ title, documentPath, tokenPath }: PageTerms): string {
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
<input id="access-token" type="password" autocomplete="off" placeholder="Paste one to try operations out">
<button id="demo-token" type="button" hidden>Get a demo token</button>
<output id="access-status"></output>
</form>
<main id="reference"><noscript>This page needs JavaScript. <a href="${escaped(documentPath)}">The OpenAPI document</a> does not.</noscript></main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
